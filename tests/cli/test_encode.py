"""Numbers to tokens, tokens to numbers, and parameter counts."""

import json

import pytest

from learnalg.tokens import ENCODINGS


def test_encode_prints_a_number_a_line(run):
    assert run("encode", "--encoding", "p10", "3.14", "-6.02e23") == (0, "+ 3 1 4 E-2\n- 6 0 2 E21\n", "")


@pytest.mark.parametrize("encoding", [*ENCODINGS, "positional:base=10,digits=4,exponents=-20:20"])
def test_decode_is_the_way_back(run, encoding):
    numbers = ["3.1", "-620", "0", "0.00025"]
    code, out, _ = run("encode", f"--encoding={encoding}", *numbers)
    assert code == 0 and len(out.splitlines()) == 4
    assert run("decode", "--encoding", encoding, *out.split()) == (0, "".join(f"{n}\n" for n in numbers), "")


def test_encode_and_decode_read_standard_input(learnalg_process):
    encoded = learnalg_process("encode", "--encoding", "p1000", input="3.14\n-6.02e23\n")
    assert (encoded.returncode, encoded.stdout) == (0, "+ 314 E-2\n- 602 E21\n")
    decoded = learnalg_process("decode", "--encoding", "p1000", input=encoded.stdout)
    assert (decoded.returncode, decoded.stdout) == (0, "3.14\n-6.02e+23\n")


PARAMS = "--encoder-layers 6 --decoder-layers 1 --dim-model 512 --input-encoding fp15 --output-encoding p1000"


def test_params_counts_the_papers_model(run):
    code, out, _ = run("params", *PARAMS.split())
    assert code == 0
    assert out.splitlines()[-1].split() == ["total", "39,186,127"]
    parts = [int(line.split()[-1].replace(",", "")) for line in out.splitlines()]
    assert sum(parts[:-1]) == parts[-1]


def test_params_as_json(run):
    _, out, _ = run("params", *PARAMS.split(), "--json")
    counts = json.loads(out)
    assert counts["total"] == 39_186_127 == sum(count for part, count in counts.items() if part != "total")
