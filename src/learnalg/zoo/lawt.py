"""Models that the paper's published code (LAWT) has trained, from its checkpoints (.pth), as models of ours.

>>> config, tensors = read_lawt(Path("checkpoint.pth"))
>>> config.data.task, config.data.input_encoding, config.model.architecture
('eigenvalues', 'b1999', 'transformer:cross_query=input,source_ends=true')

A checkpoint has its settings (`params`), an encoder and a decoder. Its network is the paper's, with two differences
that are options here: cross-attention asks with the layer's input, and the encoder reads the matrix between two end
tokens. It has one vocabulary for both sides; ours has one a side, so rows of the embeddings are looked up by the names
of the tokens. Tokens that only it has are dropped. Those that only we have, such as tasks, are never predicted.

The file comes from a stranger. torch's safe loader reads it, once the names in it are known to be those of tensors.
What is packed, or asks for more than it holds, is refused before memory is taken for it.
"""

from __future__ import annotations

import pickle
import pickletools
import re
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from learnalg.config import ModelConfig, RunConfig, replace_fields
from learnalg.naming import unknown
from learnalg.tokens.tokenizer import FIRST_DIM, FIRST_NUMBER, MAX_DIM, Tokenizer

MOST_BYTES = 4 * 2**30  # of a checkpoint: weights, and twice as much for its optimiser
MOST_PICKLED_BYTES = 16 * 2**20  # of the names and settings in it
NEVER = -1e4  # the bias of a token that is never predicted; training leaves it there

SIDES = ("encoder", "decoder")

# What a checkpoint's pickle may name: dicts, and tensors of numbers.
PICKLED = re.compile(
    r"collections OrderedDict|torch\._utils _rebuild_(tensor_v2|parameter)"
    r"|torch (Float|Double|Half|BFloat16|Long|Int|Short|Char|Byte|Bool)Storage"
)

# Operations whose sequences the paper describes. The order and the signs of eigenvectors are the code's own.
TASKS = {
    "transpose": "transpose",
    "matrix_sum": "add",
    "matrix_vector": "matvec",
    "matrix_product": "matmul",
    "eigenvalues": "eigenvalues",
    "eigenvectors": "eigenvectors:order=ascending,sign=lapack",
    "invert_matrix": "inverse",
    "syminverse": "symmetric_inverse",
}
SPECTRAL = ("eigenvalues", "eigenvectors", "syminverse")  # operations that `eigen_distribution` is for
ENSEMBLES = {
    "semicircle": "iid-uniform",
    "positive": "positive",
    "uniform": "uniform",
    "gaussian": "gaussian",
    "laplace": "laplace",
    "marcenko": "marchenko-pastur",
}

# The vocabulary: special tokens, then parts of numbers, then dimensions and both encodings' symbols in order of text.
SPECIAL = ("<s>", "</s>", "<pad>", "(", ")", *(f"<SPECIAL_{k}>" for k in range(10)), *"TADMEFI")
PARTS = ("+", "-", "10^", ".", "|")
FP15_SHIFT = 8  # N314e6 is 314e-2

# Our tensors, by their names in a checkpoint.
LAYER = {
    "self_attention": "attention",
    "cross_attention": "cross",
    "q_lin": "query",
    "k_lin": "key",
    "v_lin": "value",
    "out_lin": "out",
    "ffn": "feed_forward",
    "lin1": "up",
    "lin2": "down",
    "layer_norm1": "around_attention.norm",
    "layer_norm15": "around_cross.norm",
    "layer_norm2": "around_feed_forward.norm",
    "embeddings": "embed.words",
    "position_embeddings": "embed.positions",
    "layer_norm_emb": "embed.norm",
}


def read_lawt(path: Path) -> tuple[RunConfig, dict[str, Tensor]]:
    """Config and weights of the same network in our terms."""
    try:
        params, theirs = _settings_and_tensors(_loaded(path))
        config = _config(params, theirs)
        return config, _tensors(params, theirs, config)
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a checkpoint of the paper's code: {error}") from None


def _loaded(path: Path) -> Any:
    """What torch's safe loader makes of a file that holds plain tensors and settings only."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            pickled = [entry for entry in entries if entry.filename.endswith("/data.pkl")]
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries) or len(pickled) != 1:
                raise ValueError("torch.save writes other archives")
            if pickled[0].file_size > MOST_PICKLED_BYTES:
                raise ValueError(f"its settings have more than {MOST_PICKLED_BYTES:,} bytes")
            for operation, argument, _ in pickletools.genops(archive.read(pickled[0])):
                is_name = operation.name in ("GLOBAL", "INST", "STACK_GLOBAL")
                if is_name and not PICKLED.fullmatch(str(argument)):
                    raise ValueError(f"it holds {argument}; only tensors, numbers and text are loaded")
        # Memory-mapped: only what is used is read.
        return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except (zipfile.BadZipFile, pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    except (LookupError, TypeError, AttributeError, AssertionError, OverflowError, NotImplementedError) as error:
        raise ValueError(f"it is damaged ({type(error).__name__})") from None


def _settings_and_tensors(content: Any) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """`params`, and the tensors of both sides as 'encoder.layers.0.ffn.lin1.weight'."""
    parts: dict[str, dict[Any, Any]] = {}
    for name in ("params", *SIDES):
        if not isinstance(content, dict) or not isinstance(content.get(name), dict):
            raise ValueError(f"it has no {name}")
        parts[name] = content[name]
    tensors = {}
    for side in SIDES:
        for name, tensor in parts[side].items():
            full = f"{side}.{str(name).removeprefix('module.')}"
            if not isinstance(tensor, Tensor) or not tensor.is_floating_point() or not tensor.is_contiguous():
                raise ValueError(f"{full} is not a plain tensor of real numbers")
            tensors[full] = tensor
    return parts["params"], tensors


def _setting(params: dict[str, Any], name: str, kind: type, default: Any = None) -> Any:
    value = params.get(name, default)
    if type(value) is not kind:
        raise ValueError(f"its setting {name} is {str(value)[:40]!r}, not of type {kind.__name__}")
    return value


def _config(params: dict[str, Any], theirs: dict[str, Tensor]) -> RunConfig:
    operation = _setting(params, "operation", str)
    if operation not in TASKS:
        raise unknown("operation", operation, TASKS)
    distribution = _setting(params, "eigen_distribution", str, "semicircle") if operation in SPECTRAL else "semicircle"
    if distribution not in ENSEMBLES:
        raise unknown("eigen_distribution", distribution, ENSEMBLES)
    most = float(_number(params, "max_input_coeff"))
    least = float(_number(params, "min_input_coeff", -1))
    return replace_fields(
        RunConfig(model=_network(params, theirs)),
        task=TASKS[operation],
        dim=_dim(params),
        ensemble=ENSEMBLES[distribution],
        amplitude=(least, most) if least > 0 else (most,),
        rounded=False,
        input_encoding=_encoding(_setting(params, "input_encoding", str)),
        output_encoding=_encoding(_setting(params, "output_encoding", str)),
    )


def _number(params: dict[str, Any], name: str, default: Any = None) -> float:
    value = params.get(name, default)
    return value if isinstance(value, float) else float(_setting(params, name, int, default))


def _dim(params: dict[str, Any]) -> str:
    if _setting(params, "force_dim", bool, False):
        return "x".join(str(_setting(params, name, int)) for name in ("first_dimension", "second_dimension"))
    low, high = (_setting(params, name, int) for name in ("min_dimension", "max_dimension"))
    sizes = str(low) if low == high else f"{low}-{high}"
    is_square = not _setting(params, "rectangular", bool, False)
    return sizes if is_square or low == high else f"{sizes}x{sizes}"


def _encoding(text: str) -> str:
    """Ours, with three digits: the first number is that of digits after the first."""
    known = {"float,2,10": "p10", "float,2,1000": "p1000", "floatsymbol,2": "b1999", "FP15,2,16": "fp15"}
    if text not in known:
        raise unknown("encoding", text, known)
    return known[text]


def _network(params: dict[str, Any], theirs: dict[str, Tensor]) -> ModelConfig:
    """Sizes are those of the tensors; the number of heads is not to be seen there."""
    shapes = {name: tuple(tensor.shape) for name, tensor in theirs.items()}
    for side, name in product(SIDES, ("position_embeddings", "layers.0.ffn.lin1")):
        if len(shapes.get(f"{side}.{name}.weight", ())) != 2:
            raise ValueError(f"it has no matrix {side}.{name}.weight")
    positions = {shapes[f"{side}.position_embeddings.weight"][0] for side in SIDES}
    dims = tuple(shapes[f"{side}.position_embeddings.weight"][1] for side in SIDES)
    factors = {shapes[f"{side}.layers.0.ffn.lin1.weight"][0] / dim for side, dim in zip(SIDES, dims, strict=True)}
    if len(positions) > 1 or len(factors) > 1 or not min(factors).is_integer():
        raise ValueError(f"encoder and decoder differ in positions or hidden units: {positions}, {factors}")
    layers = [len({n.split(".")[2] for n in shapes if n.startswith(f"{side}.layers.")}) for side in SIDES]
    return ModelConfig(
        architecture="transformer:cross_query=input,source_ends=true",
        encoder_layers=layers[0],
        decoder_layers=layers[1],
        dim_model=_sides(*dims),
        heads=_sides(_setting(params, "n_enc_heads", int), _setting(params, "n_dec_heads", int)),
        ffn_factor=int(min(factors)),
        dropout=_number(params, "dropout", 0),
        max_positions=min(positions),
    )


def _sides(encoder: int, decoder: int) -> tuple[int, ...]:
    return (encoder,) if encoder == decoder else (encoder, decoder)


def vocabulary(*encodings: str) -> list[str]:
    """Their tokens in order, for the encodings of both sides, by our names of these."""
    symbols = {f"V{k}" for k in range(1, MAX_DIM + 1)}.union(*(_symbols(encoding) for encoding in encodings))
    return [*SPECIAL, *PARTS, *sorted(symbols)]


def _symbols(encoding: str) -> set[str]:
    exponents = {f"E{k}" for k in range(-100, 101)}
    if encoding in ("p10", "p1000"):
        return exponents | {str(digit) for digit in range(int(encoding[1:]))}
    if encoding == "b1999":
        return exponents | {f"N{k}" for k in range(-1000, 1001)}
    mantissas = [sign * k for sign in (1, -1) for k in range(100, 1000)]
    small = {f"N{k}e0" for k in range(-99, 100)}
    return small | {f"N{m}e{k}" for m in mantissas for k in range(16)} | {"NaN", "-NaN"}


def _theirs(token: str) -> str:
    """Their name of a token of ours: 314 of B1999 is N314, FP314/-2 is N314e6."""
    if token in ("FPNaN", "FP-NaN"):
        return token.removeprefix("FP")
    if token == "FP0/0":
        return "N0e0"
    if token.startswith("FP"):
        mantissa, exponent = token.removeprefix("FP").split("/")
        return f"N{mantissa}e{int(exponent) + FP15_SHIFT}"
    return token


def token_rows(tokenizer: Tokenizer, words: list[str]) -> np.ndarray:
    """For each token of ours, its row in their vocabulary; -1 for none. Start, end and padding have the same ids."""
    place = {word: row for row, word in enumerate(words)}
    is_balanced = tokenizer.encoding_name == "b1999"
    rows = np.full(tokenizer.vocab_size, -1)
    rows[:2] = 0, 1
    for k in range(FIRST_DIM, FIRST_NUMBER + len(tokenizer.encoding.tokens)):
        token = tokenizer.tokens[k]
        name = f"N{token}" if is_balanced and re.fullmatch(r"-?\d+", token) else _theirs(token)
        rows[k] = place.get(name, -1)
    return rows


def _tensors(params: dict[str, Any], theirs: dict[str, Tensor], config: RunConfig) -> dict[str, Tensor]:
    encodings = config.data.input_encoding, config.data.output_encoding
    words = vocabulary(*encodings)
    for side in SIDES:
        table = theirs.get(f"{side}.embeddings.weight")
        if table is None or table.ndim != 2 or len(table) != len(words):
            has = "none" if table is None else f"{len(table):,} tokens"
            raise ValueError(f"its {side}'s embedding has {has}; {' and '.join(encodings)} have {len(words):,}")
    projection, bias = theirs.pop("decoder.proj.weight", None), theirs.pop("decoder.proj.bias", None)
    if projection is not None and not torch.equal(projection, theirs["decoder.embeddings.weight"]):
        raise ValueError("its output projection is not tied to the decoder's embedding")
    if bias is None or bias.shape != (len(words),):
        raise ValueError("it has no decoder.proj.bias of that size")
    tensors = {_our_name(name): tensor.to(torch.float32) for name, tensor in theirs.items()}
    for side, encoding in zip(SIDES, encodings, strict=True):
        rows = torch.from_numpy(token_rows(Tokenizer(encoding), words))
        table = tensors[f"{side}.embed.words.weight"]
        tensors[f"{side}.embed.words.weight"] = torch.where((rows >= 0)[:, None], table[rows.clamp(0)], 0.0)
    tensors["decoder.bias"] = torch.where(rows >= 0, bias.to(torch.float32)[rows.clamp(0)], NEVER)[None]
    return tensors


def _our_name(name: str) -> str:
    """encoder.layers.0.ffn.lin1.weight -> encoder.layers.0.feed_forward.up.weight"""
    return ".".join(LAYER.get(part, part) for part in name.split("."))
