"""Any text where a name, sizes or a number is asked for: it is one, or is refused by a named error."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnalg.cli import main
from learnalg.cli.flags import parse
from learnalg.cli.solve import Solve
from learnalg.config import DataConfig, RunConfig, StageConfig, replace_fields
from learnalg.models import count_parameters, sides
from learnalg.problem import Problem, check_lengths
from learnalg.problems import TASKS, parse_tasks
from learnalg.problems.dims import MAX_DIM, Dims
from learnalg.problems.ensembles import ENSEMBLES
from learnalg.tokens import ENCODINGS, FAMILIES, get_encoding
from learnalg.training.optim import check_schedule

settings.register_profile("ours", max_examples=60, derandomize=True, deadline=None)
settings.load_profile("ours")

PIECES = st.sampled_from(
    [
        *TASKS, *ENSEMBLES, *ENCODINGS, *FAMILIES, "order", "sign", "of", "digits", "base", "exponents", "columns",
        "output", "transformer", "lstm", "gru", "memory", "loop_gate", "copy", "linear", "cosine", "constant", "muon",
        "adam", "cooldown", "period", "learning_rate", "weight_decay", "=", ":", ",", "+", "-", "x", ";", "m", "n",
        "0", "1", "2", "3", "10", "100", "101", "99999999999999999999", "1e400", "nan", "-1", "0.5", " ", "", "²", "é",
        "\x00", "\ud800", "TADM", "true",
    ]
)  # fmt: skip
FLOATS = st.floats(allow_subnormal=False)  # commands switch these off for all that runs in their process
TEXT = st.one_of(st.lists(PIECES, max_size=6).map("".join), st.text(max_size=12))


def is_taken(read, *arguments):
    try:
        read(*arguments)
    except (ValueError, OSError) as error:
        assert str(error)
        return False
    return True


@settings(max_examples=300)
@given(TEXT)
def test_sizes(text):
    if is_taken(Dims.parse, text):
        dims = Dims.parse(text)
        assert 1 <= dims.rows[0] <= dims.rows[1] <= MAX_DIM and 1 <= dims.cols[0] <= dims.cols[1] <= MAX_DIM


@settings(max_examples=300)
@given(TEXT, st.booleans())
def test_tasks(text, has_file):
    is_taken(parse_tasks, text, has_file)


@settings(max_examples=300)
@given(st.fixed_dictionaries({}, optional={
    "task": TEXT, "dim": TEXT, "ensemble": st.tuples(TEXT), "input_encoding": TEXT, "output_encoding": TEXT,
    "amplitude": st.lists(FLOATS, max_size=3).map(tuple), "sigma_factor": FLOATS, "noise": FLOATS,
    "symmetric": st.booleans(), "triangle": st.booleans(),
}))  # fmt: skip
def test_problems(fields):
    def make():
        problem = Problem(DataConfig(**fields))
        check_lengths(problem, replace(RunConfig(), data=problem.config))

    is_taken(make)


@settings(max_examples=50)
@given(st.fixed_dictionaries({}, optional={
    "architecture": TEXT, "input_embedding": TEXT, "output_embedding": TEXT, "positions": st.tuples(TEXT),
    "encoder_layers": st.integers(-1, 3), "encoder_loops": st.integers(-1, 101), "products": st.integers(-1, 3),
    "dim_model": st.tuples(st.integers(-1, 40)), "heads": st.tuples(st.integers(-1, 200)), "norm": TEXT,
    "relations": st.sampled_from(["none", "learned", "directed", "x"]), "max_positions": st.integers(-1, 2**17),
    "optimizer": TEXT, "schedule": TEXT,
}))  # fmt: skip
def test_networks(fields):
    def make():
        config = replace_fields(RunConfig(), **fields)
        count_parameters(config.model, *sides(Problem(config.data)))
        check_schedule(config)

    is_taken(make)


@given(TEXT)
def test_encodings(text):
    if is_taken(get_encoding, text):
        assert len(get_encoding(text).tokens) <= 300_000


@given(st.integers() | FLOATS | TEXT, TEXT)
def test_stages(examples, dim):
    is_taken(lambda: StageConfig(examples, dim=dim))


@settings(max_examples=200)
@given(st.lists(TEXT | st.sampled_from(["--json", "--task", "--device", "--dim=3", "--", "-x"]), max_size=5))
def test_flags(arguments):
    is_taken(parse, Solve, "solve", [argument for argument in arguments if argument not in ("-h", "--help")])


@pytest.mark.parametrize("command", ["encode", "decode", "list", "params"])
def test_commands_that_take_names(command, capsys):
    @settings(max_examples=40)
    @given(st.lists(TEXT, min_size=1, max_size=3))
    def check(arguments):
        if "--plugin" not in arguments:
            assert main([command, *arguments]) in (0, 2)
        err = capsys.readouterr().err
        assert err.count("\n") <= 1 and err.strip("\n").isprintable()

    check()
