"""Golden: the last table of the paper (appendix G), to the last unit, and its formula for sizes it does not list."""

from __future__ import annotations

import pytest
import torch

from learnalg.config import DataConfig, ModelConfig
from learnalg.models import Side, build, count_parameters, sides
from learnalg.problem import Problem

VOCABULARIES = {"p10": 331, "p1000": 1231, "b1999": 2322, "fp15": 29121}
POSITIONS = 512

TABLE = [
    # experiment, encoder/decoder layers, dimensions, input and output encoding, parameters
    ("transposition", 1, 1, 256, "p10", "p10", 2_276_171),
    ("transposition", 1, 1, 256, "p1000", "p1000", 2_737_871),
    ("transposition", 1, 1, 256, "b1999", "b1999", 3_297_554),
    ("transposition", 1, 1, 256, "fp15", "fp15", 17_045_441),
    ("addition", 2, 2, 512, "b1999", "b1999", 17_619_218),
    ("matrix vector multiplication", 2, 2, 512, "p10", "p10", 15_578_443),
    ("matrix vector multiplication", 2, 2, 512, "p1000", "p1000", 16_500_943),
    ("matrix vector multiplication", 4, 4, 512, "p1000", "p1000", 31_213_775),
    ("matrix multiplication", 1, 4, 512, "p1000", "p1000", 21_756_623),
    ("matrix multiplication", 1, 6, 512, "p1000", "p1000", 30_164_687),
    ("eigen decomposition", 1, 6, 512, "fp15", "fp15", 58_751_937),
    ("eigen decomposition", 6, 1, 512, "fp15", "fp15", 53_493_697),
    ("eigen decomposition", 6, 1, 512, "p1000", "p1000", 24_906_447),
    ("eigen decomposition", 6, 6, 512, "p1000", "p1000", 45_926_607),
    ("matrix inversion", 6, 1, 512, "fp15", "p1000", 39_186_127),
]
every_row = pytest.mark.parametrize(("experiment", "n_e", "n_d", "dim", "inputs", "outputs", "parameters"), TABLE)


def paper_formula(n_e: int, n_d: int, d_e: int, d_d: int, w_i: int, w_o: int, w_p: int) -> int:
    embeddings = d_e * (w_i + w_p + 2) + ((w_o + w_p + 2) * d_d + w_o)
    return embeddings + n_e * d_e * (12 * d_e + 13) + n_d * d_d * (14 * d_d + 2 * d_e + 19)


@every_row
def test_the_papers_table(experiment, n_e, n_d, dim, inputs, outputs, parameters):
    config = ModelConfig(encoder_layers=n_e, decoder_layers=n_d, dim_model=(dim,), max_positions=POSITIONS)
    with torch.device("meta"):
        model = build(config, Side(VOCABULARIES[inputs]), Side(VOCABULARIES[outputs]))
    assert sum(p.numel() for p in model.parameters()) == parameters


@every_row
def test_the_papers_table_from_our_tokenizers_and_defaults(experiment, n_e, n_d, dim, inputs, outputs, parameters):
    data = DataConfig(input_encoding=inputs, output_encoding=outputs)
    config = ModelConfig(encoder_layers=n_e, decoder_layers=n_d, dim_model=(dim,))
    assert sum(count_parameters(config, *sides(Problem(data))).values()) == parameters


@every_row
def test_the_papers_table_from_the_papers_formula(experiment, n_e, n_d, dim, inputs, outputs, parameters):
    assert paper_formula(n_e, n_d, dim, dim, VOCABULARIES[inputs], VOCABULARIES[outputs], POSITIONS) == parameters


@pytest.mark.parametrize("joint", [False, True], ids=["alone", "joint"])
@pytest.mark.parametrize(("encoding", "vocab_size"), VOCABULARIES.items())
def test_our_vocabularies_have_the_papers_sizes(encoding, vocab_size, joint):
    task = "transpose+add" if joint else "eigenvalues"
    source, target = sides(Problem(DataConfig(task=task, input_encoding=encoding, output_encoding=encoding)))
    assert (source.vocab_size, target.vocab_size) == (vocab_size, vocab_size)


@pytest.mark.parametrize(
    ("n_e", "n_d", "d_e", "d_d", "heads_e", "heads_d"),
    [(6, 1, 768, 512, 12, 8), (1, 6, 512, 768, 8, 12), (24, 1, 1024, 512, 16, 8), (2, 3, 40, 72, 5, 3)],
)
@pytest.mark.parametrize(("w_i", "w_o", "w_p"), [(29121, 1231, 512), (331, 2322, 100)])
def test_the_papers_formula_for_sides_that_differ(n_e, n_d, d_e, d_d, heads_e, heads_d, w_i, w_o, w_p):
    config = ModelConfig(
        encoder_layers=n_e,
        decoder_layers=n_d,
        dim_model=(d_e, d_d),
        heads=(heads_e, heads_d),
        max_positions=w_p,
    )
    counted = sum(count_parameters(config, Side(w_i), Side(w_o)).values())
    assert counted == paper_formula(n_e, n_d, d_e, d_d, w_i, w_o, w_p)


def test_parts_of_the_count():
    """Embeddings with their norm, layers, and the bias of the output projection, which is tied."""
    config = ModelConfig(encoder_layers=1, decoder_layers=1, dim_model=(8,), max_positions=10)
    assert count_parameters(config, Side(5), Side(7)) == {
        "encoder embed": 8 * (5 + 10 + 2),
        "encoder layers": 12 * 8 * 8 + 13 * 8,
        "decoder embed": 8 * (7 + 10 + 2),
        "decoder layers": 14 * 8 * 8 + 19 * 8 + 2 * 8 * 8,
        "decoder bias": 7,
    }
