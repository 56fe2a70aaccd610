"""`learnalg sweep`: a sweep by jobs, shown as a table and as a figure."""

import pytest

pytest.importorskip("optuna", reason="sweeps need optuna: pip install 'learnalg[sweep]'")


def test_a_sweep_runs_as_jobs_and_is_shown(run, small, tmp_path):
    problem = ["--task", "transpose", "--dim", "2", "--output-encoding", "p10", *small]
    vary = ["--vary", "learning_rate=1e-3,1e-2", "clip=1,2", "--trials", "1"]
    code, out, err = run("sweep", "wide", *problem, *vary)
    assert (code, err) == (0, "") and "sweep/wide/worker-1: done" in out
    assert (
        "best of 1 done: trial 0000, learning_rate 0.001, clip 1; test it with: learnalg evaluate wide/trials/0000"
        in out
    )
    code, shown, err = run("sweep", "wide", "--show", "--out", "wide.svg")
    assert (code, err) == (0, "") and (tmp_path / "wide.svg").read_bytes().startswith(b"<?xml")
    head, *rows = shown.splitlines()[:2]
    assert head.split()[:7] == ["trial", "state", "learning_rate", "clip", "examples", "loss", "5"]
    assert rows[0].split()[:5] == ["0000", "done", "0.001", "1", "640"]
    assert run("sweep", "wide", *problem, *vary, "--quiet")[0] == 0  # repeated: nothing is left to do
    for line, complaint in (
        (["wide", *problem, "--seed", "2", *vary], "wide was begun with another train.seed"),
        (["wide", "--show", "--trials", "3"], "--show shows a sweep"),
        (["wide", "--show", "--out", "wide.svg"], "wide.svg exists already"),
        (["wide", "--show", "--out", "wide.pdf"], "unknown kind of file '.pdf'"),
        (["wide", "--jobs", "0"], "--jobs 0"),
        (["narrow", "--show"], "narrow is not a sweep's folder"),
        (["narrow", *problem], "nothing to vary"),
        ([tmp_path, *problem, *vary], "is no sweep"),
    ):
        code, out, err = run("sweep", *line)
        assert (code, err.count("\n")) == (2, 1) and complaint in err
