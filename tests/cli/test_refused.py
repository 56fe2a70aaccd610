"""Bad input gets one clear line and leaves nothing behind."""

import os
import re

import pytest

REFUSED = {
    "nonsense": "unknown command 'nonsense'",
    "trian": "did you mean 'train'?",
    "list nonsense": "unknown kind 'nonsense'",
    "list task": "did you mean 'tasks'?",
    "train --task nonsense": "unknown task 'nonsense'",
    "train --task eigenvalue": "did you mean 'eigenvalues'?",
    "train --task transpose+nonsense": "unknown task 'nonsense'",
    "train --task transpose+transpose": "each task once",
    "train --task eigenvectors:order=sideways": "sideways",
    "train --task eigenvectors:ordr=ascending": "did you mean 'order'?",
    "train --ensemble nonsense": "unknown ensemble 'nonsense'",
    "train --input-encoding nonsense": "unknown encoding 'nonsense'",
    "train --output-encoding positional:base=1": "base=1",
    "train --architecture nonsense": "unknown architecture 'nonsense'",
    "train --positions nonsense": "unknown positions 'nonsense'",
    "train --input-embedding nonsense": "unknown input embedding 'nonsense'",
    "train --preset nonsense": "unknown preset 'nonsense'",
    "train --preset fats": "did you mean 'fast'?",
    "train --preset fast --recipe eigenvalues-3": "only one of them",
    "train --optimizer sgd": "'sgd'",
    "train --schedule linar": "did you mean 'linear'?",
    "train --device tpu": "unknown device 'tpu'",
    "train --device cdua": "did you mean 'cuda'?",
    "train --stop-tolerance 0.01": "stop_tolerance 0.01: has no effect without stop_accuracy",
    "train --symmetric": "symmetric: has no effect",
    "train --nonsense 3": "unknown flag '--nonsense'",
    "train --exampels 3": "did you mean '--examples'?",
    "train --stage 3": "unknown flag '--stage'",
    "train nonsense": "'nonsense'",
    "train --relations lerned": "did you mean 'learned'?",
    "train --dim 0": "dimensions '0'",
    "train --dim 7-5": "dimensions '7-5'",
    "train --dim 5y": "dimensions '5y'",
    "train --dim 101": "dimensions '101'",
    "train --task inverse --dim 3x4": "needs square matrices: dim '3x4'",
    "train --task svd --dim 60": "a dimension of 121",
    "train --ensemble positive --task svd --dim 2x3": "'positive' draws square matrices",
    "train --heads 3": "3 heads do not divide 128",
    "train --heads 1 2 3": "one value, or the encoder's and the decoder's",
    "train --dim-model 128 30": "do not divide 30",
    "train --dim 12 --input-encoding p10": "more than max_positions 512",
    "train --dim 5 --max-positions 16": "more than max_positions 16",
    "train --batch-size 0": "batch_size 0",
    "train --examples many": "--examples 'many': expected a whole number",
    "train --examples 1.5": "--examples '1.5': expected a whole number",
    "train --learning-rate high": "--learning-rate 'high': expected a number",
    "train --learning-rate 0": "learning_rate 0",
    "train --learning-rate nan": "learning_rate nan",
    "train --dropout 1": "dropout 1",
    "train --stop-accuracy 2": "stop_accuracy 2",
    "train --mix-share 2": "mix_share 2",
    "train --mix-share 0.5": "mix_dim or mix_ensemble",
    "train --mix-share 0.5 --mix-dim 30": "more than max_positions 512",
    "train --repeated-share -1": "repeated_share -1",
    "train --pool 0": "pool 0",
    "train --amplitude 1e12": "too large for fp15",
    "train --init missing": "missing",
    "train --init eigenvalues-33": "did you mean 'eigenvalues-3'?",
    "train --recipe missing.toml": "missing.toml",
    "train --recipe eigenvalue": "did you mean 'eigenvalues",
    "train --recipe words.txt": "words.txt",
    "train --recipe typo.toml": "did you mean 'heads'?",
    "train --recipe bare.toml": "names its preset",
    "train --plugin missing.py": "missing.py",
    "train --dim": "--dim",
    "train --out words.txt": "words.txt exists already",
    "train --out full": "full exists already",
    "resume": "required",
    "resume missing": "missing is not a run's folder",
    "resume words.txt": "words.txt is not a run's folder",
    "resume full": "full is not a run's folder",
    "resume RUN --nonsense": "--nonsense",
    "replay RUN": "required: STEP",
    "replay RUN 0": "step 0: the run has steps 1 to",
    "replay RUN two": "step 'two': expected a whole number",
    "replay missing 3": "missing is not a run's folder",
    "resume RUN --examples 500": "has finished: fine-tune from its weights with --init",
    "evaluate": "required",
    "evaluate missing": "missing",
    "evaluate full": "full/model.safetensors",
    "evaluate words.txt": "words.txt is not a safetensors file",
    "evaluate RUN --num 0": "num 0",
    "evaluate RUN --tolerances -1": "tolerances",
    "evaluate RUN --norms l3": "unknown norm",
    "evaluate RUN --beam 0": "beam width 0",
    "evaluate RUN --ensemble nonsense": "unknown ensemble 'nonsense'",
    "evaluate RUN --sigma-factor 0": "sigma_factor 0",
    "evaluate RUN --noise -0.5": "noise -0.5",
    "evaluate RUN --dim 2x": "dimensions '2x'",
    "evaluate RUN --dim 30": "more than max_positions 512",
    "evaluate RUN --amplitude 1e12": "too large for fp15",
    "evaluate RUN --save words.txt": "words.txt exists already",
    "analyse missing": "missing",
    "analyse RUN --num 0": "num 0",
    "analyse RUN --tolerance 0": "tolerance 0",
    "analyse RUN --ensemble nonsense": "unknown ensemble 'nonsense'",
    "analyse RUN --out full": "full exists already",
    "analyse RUN --out words.txt": "words.txt exists already",
    "solve missing two.npy": "missing",
    "solve RUN": "MATRICES",
    "solve RUN missing.npy": "missing.npy: no such file",
    "solve RUN full": "full: no such file",
    "solve RUN words.txt": "words.txt holds no matrix",
    "solve RUN empty.txt": "empty.txt holds no matrix",
    "solve RUN ragged.csv": "ragged.csv holds no matrix",
    "solve RUN words.npy": "words.npy holds no matrix",
    "solve RUN empty.npy": "empty.npy holds no matrix",
    "solve RUN object.npy": "object.npy holds no matrix: it has Python objects, and a pickle is never loaded",
    "solve RUN zip.npy": "zip.npy holds no matrix",
    "solve RUN archive.npy": "archive.npy holds no matrix",
    "solve RUN lying.npy": "lying.npy holds no matrix: its header says 8,000,000,000,000",
    "solve RUN lying.npz": "lying.npz holds no matrix: a.npy: its header says 8,000,000,000,000 bytes",
    "solve RUN fields.npy": "fields.npy holds no matrix",
    "solve RUN steps.txt": "steps.txt holds no matrix: matrix 1 has 1 rows, and matrix 0 has 2: a stack has one size",
    "solve RUN nan.txt": "nan.txt holds no matrix: matrix (1,) has NaN or infinity",
    "solve RUN two.npy --out words.txt": "words.txt exists already",
    "solve RUN two.npy --out missing/answer.npy": "there is no folder missing",
    "solve RUN two.npy --out answer.json": "must end in one of .npy, .npz, .csv, .txt",
    "solve RUN two.npy --fallback": "--fallback has no effect without --refine",
    "solve RUN two.npy --refine": "two.npy: no refinement for transpose",
    "solve RUN two.npy three.npy": "three.npy: a 3x3 matrix, but this model was trained on dim 1-2",
    "solve two.npy": "which MODEL? or --task",
    "solve --task nonsense two.npy": "unknown task 'nonsense'",
    "solve --task inverse batch.npy": "batch.npy: no released model for inverse of 1x1",
    "solve --task eigenvalues vector.npy": "vector.npy: expected an m x n matrix or a stack of them",
    "solve --task inverse ones.npy": "ones.npy: Singular matrix (1,)",
    "solve --task add two.npy": "two.npy: a problem takes 2 matrices, and there are 1",
    "solve RUN complex.npy": "complex.npy holds no matrix: expected real numbers, it has complex128",
    "solve RUN three.npy": "three.npy: a 3x3 matrix, but this model was trained on dim 1-2",
    "solve RUN vector.npy": "vector.npy: expected an m x n matrix or a stack of them, got the shape (2,)",
    "solve RUN nan.npy": "nan.npy holds no matrix: it has NaN or infinity",
    "solve RUN two.npy two.npy": "two.npy: another problem has the name 'two' already",
    "solve RUN two.npy --task add": "transpose",
    "verify missing": "unknown released model 'missing'",
    "verify eigenvalues-33": "did you mean 'eigenvalues-3'?",
    "verify missing.json": "missing.json: no such file",
    "verify words.txt": "unknown released model 'words.txt'",
    "verify --num -1": "num -1",
    "release": "required",
    "release missing name": "missing is not a run's folder",
    "release RUN eigenvalues-3": "eigenvalues-3 is released already",
    "release RUN a/b": "plain name",
    "bench --cases nonsense": "no case has 'nonsense'",
    "bench --rounds 0": "rounds 0: must be at least 1",
    "encode --encoding nonsense 3": "unknown encoding 'nonsense'",
    "encode --encoding p100o 3": "did you mean 'p100",
    "encode three": "'three'",
    "encode --nonsense 3": "--nonsense",
    "encode --encoding p10 1e300": "too large",
    "decode --encoding p10 + 3": "a number has 5",
    "decode --encoding p10 + 3 1 X E2": "'X' is not a token",
    "decode --encoding p10 + + + + +": "is not a number",
    "params --heads 7": "7 heads do not divide 512",
    "params --input-encoding nonsense": "unknown encoding 'nonsense'",
}


@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")  # a warning is a line too
@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_gets_one_line_and_leaves_nothing_behind(run, tiny_run, crowded, contents, line):
    before = contents(crowded), contents(tiny_run.folder)
    few = ["--final-num", "1", "--examples", "1"] if line.startswith("train") and "--examples" not in line else []
    code, out, err = run(*line.replace("RUN", str(tiny_run.folder)).split(), *few)
    assert (code, out) == (2, "")
    assert err.startswith("learnalg: error: ") and err.endswith("\n") and err.count("\n") == 1
    assert REFUSED[line] in err
    assert (contents(crowded), contents(tiny_run.folder)) == before


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bad_input_in_a_process(tmp_path, learnalg_process, encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = learnalg_process("train", "--heads", "3", "--out", "run", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"learnalg: error: encoder: 3 heads do not divide 128 dimensions\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_names_in_errors_are_not_broken(run):
    long = "a-name-longer-than-a-terminal-is-wide-" * 4 + "end"
    assert long in run("train", "--task", long)[2]


def test_mistakes_of_our_own_keep_their_traceback(run, monkeypatch):
    def broken(arguments):
        raise IndexError("ours")

    monkeypatch.setattr("learnalg.cli.list.run", broken)
    with pytest.raises(IndexError, match="ours"):
        run("list")
