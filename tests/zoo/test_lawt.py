"""Checkpoints of the paper's published code: same tokens, same logits; a stranger's file is refused in one line.

The reference in lawt/ is a small model that the published code has trained, cut to 64 positions and without its
optimiser, and the logits that its own network gives for two matrices.
"""

import pickle
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import learnalg
from learnalg.evaluation.decode import greedy
from learnalg.models.weights import read_model, save_model
from learnalg.tokens.tokenizer import Tokenizer
from learnalg.zoo import lawt
from learnalg.zoo.lawt import token_rows, vocabulary

CHECKPOINT = Path(__file__).parent / "lawt" / "eigenvalues-3.pth"


@pytest.fixture(scope="module")
def reference():
    with np.load(CHECKPOINT.with_suffix(".npz")) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def model():
    return learnalg.load(CHECKPOINT)


@pytest.fixture
def content():
    return torch.load(CHECKPOINT, weights_only=True)


@pytest.fixture
def saved(tmp_path):
    """saved(content): a checkpoint of it."""

    def save(content, **options):
        torch.save(content, tmp_path / "model.pth", **options)
        return tmp_path / "model.pth"

    return save


def ours(reference):
    """Their source and target in our tokens, and which of their logits belong to our tokens."""
    source, target = (token_rows(Tokenizer(name), list(reference["words"])) for name in ("b1999", "p1000"))
    ids = [{row: k for k, row in enumerate(rows) if row >= 0} for rows in (source, target)]
    return (
        torch.from_numpy(np.vectorize(ids[0].get)(reference["source_ids"][:, 1:-1])),  # between start and end
        torch.from_numpy(np.vectorize(ids[1].get)(reference["target_ids"])),
        target,
    )


def logits_of(model, source, target):
    with torch.inference_mode():
        return model.module(source, target).numpy()


def test_the_vocabulary_is_theirs(reference):
    assert vocabulary("b1999", "p1000") == list(reference["words"])


@pytest.mark.parametrize(("encoding", "size"), [("p10", 331), ("b1999", 2322), ("fp15", 29121)])
def test_vocabularies_have_the_papers_sizes(encoding, size):
    assert len(vocabulary(encoding)) == size + 7  # letters for several tasks came later


@pytest.mark.parametrize(
    ("encoding", "value", "words"),
    [
        ("p10", -3.14, ["-", "3", "1", "4", "E-2"]),
        ("p1000", 3.14, ["+", "314", "E-2"]),
        ("b1999", -3.14, ["N-314", "E-2"]),
        ("fp15", 3.14, ["N314e6"]),
        ("fp15", 0.0, ["N0e0"]),
        ("fp15", -1e12, ["-NaN"]),
    ],
)
def test_numbers_have_the_same_tokens(encoding, value, words):
    tokenizer, known = Tokenizer(encoding), vocabulary(encoding)
    ids = tokenizer.encode(np.array([[[value]]]))[0]
    assert [known[row] for row in token_rows(tokenizer, known)[ids]] == ["V1", "V1", *words]


@pytest.mark.parametrize("encoding", ["p10", "p1000", "b1999", "fp15"])
def test_every_number_of_ours_is_one_of_theirs(encoding):
    tokenizer = Tokenizer(encoding)
    rows = token_rows(tokenizer, vocabulary(encoding, "p10"))
    has_none = {tokenizer.tokens[k] for k in np.flatnonzero(rows < 0)}
    assert {token.partition("-")[0] for token in has_none} <= {"<task", "<reserved"}
    assert len(set(rows[rows >= 0])) == (rows >= 0).sum()


def test_matrices_have_the_same_tokens(model, reference):
    source, target, _ = ours(reference)
    written = model.problem.tokenizers[0].encode(reference["matrices"])
    np.testing.assert_array_equal(written, source)
    solutions = model.problem.tokenizers[1].decode(target.numpy()[:, 1:]).matrices([0, 1], (3, 1))
    np.testing.assert_allclose(solutions, np.linalg.eigvalsh(reference["matrices"])[:, ::-1, None], rtol=5e-3)


def test_the_logits_are_theirs(model, reference):
    source, target, rows = ours(reference)
    logits = logits_of(model, source, target)
    np.testing.assert_allclose(logits[..., rows >= 0], reference["logits"][..., rows[rows >= 0]], atol=1e-5)
    assert (logits[..., rows < 0] < -1000).all()


@torch.inference_mode()
def test_decoding_writes_their_likeliest_tokens(model, reference):
    source, target, rows = ours(reference)
    written = greedy(model.module, source, 13).tokens_BT.numpy()
    best = reference["logits"].argmax(-1)
    for row in range(2):
        same = 1 + int(np.argmin(written[row] == target[row, 1:14].numpy()[: written.shape[1]]))  # where prefixes agree
        assert same > 3
        np.testing.assert_array_equal(rows[written[row, :same]], best[row, :same])


def test_4096_positions_and_several_gpus_change_nothing(content, saved, reference):
    for side in ("encoder", "decoder"):
        table = content[side]["position_embeddings.weight"]
        content[side]["position_embeddings.weight"] = torch.cat([table, torch.full((4096 - 64, 16), 7.0)])
        content[side] = {f"module.{name}": tensor for name, tensor in content[side].items()}
    content["optimizer"] = {"state": {0: {"step": 100, "exp_avg": torch.ones(5)}}}
    model = learnalg.load(saved(content))
    assert model.config.model.max_positions == 4096
    source, target, rows = ours(reference)
    logits = logits_of(model, source, target)[..., rows >= 0]
    np.testing.assert_allclose(logits, reference["logits"][..., rows[rows >= 0]], atol=1e-5)


def test_it_is_saved_in_our_own_format(model, reference, tmp_path):
    save_model(tmp_path / "model.safetensors", model.config, model.module)
    assert read_model(tmp_path / "model.safetensors")[0] == model.config
    again = learnalg.load(tmp_path)
    np.testing.assert_array_equal(again.solve(reference["matrices"]), model.solve(reference["matrices"]))


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"operation": "invert_matrix"}, {"task": "inverse", "ensemble": ("iid-uniform",)}),
        ({"operation": "eigenvectors"}, {"task": "eigenvectors:order=ascending,sign=lapack"}),
        ({"eigen_distribution": "laplace"}, {"ensemble": ("laplace",)}),
        ({"operation": "transpose", "eigen_distribution": "laplace"}, {"ensemble": ("iid-uniform",)}),
        ({"min_dimension": 5, "max_dimension": 10}, {"dim": "5-10"}),
        (
            {"operation": "matrix_sum", "min_dimension": 5, "max_dimension": 10, "rectangular": True},
            {"dim": "5-10x5-10"},
        ),
        ({"operation": "transpose", "force_dim": True, "first_dimension": 6, "second_dimension": 4}, {"dim": "6x4"}),
        ({"max_input_coeff": 5}, {"amplitude": (5.0,)}),
        ({"min_input_coeff": 1, "max_input_coeff": 100}, {"amplitude": (1.0, 100.0)}),
    ],
)
def test_settings_are_fields_of_our_config(content, saved, settings, fields):
    content["params"] |= settings
    data = learnalg.load(saved(content)).config.data
    assert {name: getattr(data, name) for name in fields} == fields


def change_setting(name, value):
    return lambda content: content["params"].__setitem__(name, value)


def change_tensor(side, name, tensor):
    return lambda content: content[side].__setitem__(name, tensor)


REFUSED = {
    "operation": (change_setting("operation", "cotraining"), "unknown operation 'cotraining'"),
    "typo": (change_setting("operation", "eigenvalue"), "did you mean 'eigenvalues'"),
    "encoding": (change_setting("input_encoding", "float,3,10"), "unknown encoding 'float,3,10'"),
    "other encoding": (change_setting("output_encoding", "floatsymbol,2"), "b1999 and b1999 have 2,329"),
    "distribution": (change_setting("eigen_distribution", "multi"), "unknown eigen_distribution 'multi'"),
    "heads": (change_setting("n_enc_heads", 3), "3 heads do not divide 16"),
    "no heads": (change_setting("n_enc_heads", 0), "0 heads"),
    "text": (change_setting("n_enc_heads", "4"), "n_enc_heads is '4', not of type int"),
    "sizes": (change_setting("min_dimension", -1), "dimensions '-1-3'"),
    "coefficients": (change_setting("max_input_coeff", -5), "lowest <= highest"),
    "no settings": (lambda content: content.pop("params"), "it has no params"),
    "no decoder": (lambda content: content.pop("decoder"), "it has no decoder"),
    "a list": (lambda content: content.__setitem__("encoder", [1, 2]), "it has no encoder"),
    "no bias": (lambda content: content["decoder"].pop("proj.bias"), "no decoder.proj.bias"),
    "no embedding": (lambda content: content["encoder"].pop("embeddings.weight"), "embedding has none"),
    "no positions": (lambda content: content["encoder"].pop("position_embeddings.weight"), "no matrix"),
    "untied": (change_tensor("decoder", "proj.weight", torch.ones(3329, 16)), "not tied"),
    "a number": (change_tensor("decoder", "proj.weight", 3), "decoder.proj.weight is not a plain tensor"),
    "whole numbers": (change_tensor("decoder", "proj.bias", torch.ones(3329, dtype=torch.int64)), "not a plain tensor"),
    "another layer": (change_tensor("encoder", "layers.0.gate.weight", torch.ones(4)), "do not fit"),
    "many layers": (change_tensor("encoder", "layers.9.ffn.lin1.bias", torch.ones(4)), "do not fit"),
    # A view of one number, as large as it says: 4 TB.
    "expanded": (change_tensor("encoder", "embeddings.weight", torch.ones(1).expand(10**6, 10**6)), "not a plain"),
    "wide": (change_tensor("encoder", "position_embeddings.weight", torch.ones(1, 10**6)), "differ in positions"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_such_network_is_refused_in_one_line(content, saved, case):
    change, complaint = REFUSED[case]
    change(content)
    with pytest.raises(ValueError, match=r".") as refused:
        learnalg.load(saved(content))
    assert complaint in str(refused.value) and "\n" not in str(refused.value)


def test_a_network_of_terabytes_is_refused_before_it_is_built(content, saved):
    """Wide positions in a file of megabytes: the matrices that go with them are not there."""
    for side in ("encoder", "decoder"):
        content[side]["position_embeddings.weight"] = torch.ones(1, 400_000)
        content[side]["layers.0.ffn.lin1.weight"] = torch.ones(400_000, 1)
        content[side]["embeddings.weight"] = torch.ones(3329, 1)
    del content["decoder"]["proj.weight"]
    with pytest.raises(ValueError, match="do not fit"):
        learnalg.load(saved(content))


class Trap:
    def __reduce__(self):
        return pickle.loads, (b"never",)


@pytest.mark.parametrize("trap", [Trap(), np.float64(3.5), bytearray(10), complex(1, 2)])
def test_nothing_but_tensors_numbers_and_text_is_unpickled(content, saved, trap):
    content["best_metrics"] = {"loss": trap}
    with pytest.raises(ValueError, match="only tensors, numbers and text are loaded"):
        learnalg.load(saved(content))


def test_files_of_other_kinds_are_refused(content, saved, tmp_path):
    old = saved(content, _use_new_zipfile_serialization=False)
    with pytest.raises(ValueError, match="not a zip file"):
        learnalg.load(old)
    (tmp_path / "words.pth").write_text("no checkpoint")
    with pytest.raises(ValueError, match="not a zip file"):
        learnalg.load(tmp_path / "words.pth")
    with zipfile.ZipFile(tmp_path / "other.pth", "w") as archive:
        archive.writestr("notes.txt", "no checkpoint")
    with pytest.raises(ValueError, match=r"torch\.save writes other archives"):
        learnalg.load(tmp_path / "other.pth")
    with pytest.raises(ValueError, match=r"missing\.pth"):
        learnalg.load(tmp_path / "missing.pth")


def test_archives_that_grow_when_read_are_refused(saved, content, tmp_path):
    """A kilobyte that unpacks to gigabytes."""
    with zipfile.ZipFile(saved(content)) as plain, zipfile.ZipFile(tmp_path / "packed.pth", "w") as packed:
        for entry in plain.infolist():
            packed.writestr(entry.filename, plain.read(entry), compress_type=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match=r"torch\.save writes other archives"):
        learnalg.load(tmp_path / "packed.pth")


def test_the_limits_hold(monkeypatch):
    monkeypatch.setattr(lawt, "MOST_PICKLED_BYTES", 1000)
    with pytest.raises(ValueError, match="settings have more than 1,000 bytes"):
        learnalg.load(CHECKPOINT)
    monkeypatch.setattr(lawt, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="more than 1,000 bytes"):
        learnalg.load(CHECKPOINT)


def test_damaged_files_are_refused(content, saved):
    """Bytes flipped where names, sizes and settings are; some change nothing that is read."""
    whole = saved(content)
    with zipfile.ZipFile(whole) as archive:
        entry = next(entry for entry in archive.infolist() if entry.filename.endswith("data.pkl"))
    start, bytes_ = entry.header_offset, whole.read_bytes()
    rng, refused = np.random.default_rng(1), 0
    for place in rng.integers(start, start + entry.file_size, 40):
        damaged = bytearray(bytes_)
        damaged[place] ^= 1 << int(rng.integers(8))
        whole.write_bytes(damaged)
        try:
            learnalg.load(whole)
        except ValueError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 10
    whole.write_bytes(bytes_[: len(bytes_) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        learnalg.load(whole)


def test_the_commands_take_a_checkpoint(learnalg_process, tmp_path):
    shutil.copy(CHECKPOINT, tmp_path / "m.pth")
    np.save(tmp_path / "m.npy", np.diag([1.0, 2.0, 3.0]))
    done = learnalg_process("solve", "m.pth", "m.npy", cwd=tmp_path)
    # After 100 steps of training nothing is trusted; the answer is written all the same.
    assert done.returncode == 1 and "not trusted" in done.stderr and len(done.stdout.split()) == 3
    done = learnalg_process("evaluate", "m.pth", "--num", "20", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and "eigenvalues, dim 3" in done.stdout
