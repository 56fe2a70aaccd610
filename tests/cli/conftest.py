"""Commands run in this process, in an empty folder."""

import io
import zipfile

import numpy as np
import pytest
import torch

from learnalg.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run('list', 'tasks'): exit code, standard output and standard error, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    yield call
    torch.set_flush_denormal(False)  # a setting of the commands that other tests must not have


@pytest.fixture(scope="session")
def small():
    """Flags of a training that takes a second."""
    sizes = "--encoder-layers 1 --encoder-loops 1 --products 0 --dim-model 16 --heads 2 --examples 640 --batch-size 64"
    rest = "--eval-num 10 --final-num 20 --threads 1 --workers 0 --device cpu --precision fp32"
    return [*sizes.split(), *rest.split()]


@pytest.fixture(scope="session")
def contents():
    """contents(folder): all files in it, to see that nothing was changed."""

    def of(folder):
        return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}

    return of


@pytest.fixture
def crowded(tmp_path):
    """A folder with files that are no matrices, and things that must not be touched."""
    (tmp_path / "words.txt").write_text("no numbers\nhere\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "words.npy").write_text("no numbers here")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "zip.npy").write_bytes(b"PK\x03\x04 and no archive")
    (tmp_path / "typo.toml").write_text('preset = "fast-2"\n[model]\nhead = 4\n')
    (tmp_path / "bare.toml").write_text('[data]\ntask = "add"\n')
    np.savez(tmp_path / "archive.npz", a=np.eye(2))
    (tmp_path / "archive.npz").rename(tmp_path / "archive.npy")
    np.save(tmp_path / "object.npy", np.array([[None]]), allow_pickle=True)
    arrays = {
        "complex": [[1j]],
        "two": np.eye(2),
        "three": [[1.0, 2.0, 3.0], [2.0, 5.0, -4.0], [3.0, -4.0, 0.5]],
        "vector": [1.0, 2.0],
        "nan": [[np.nan]],
        "batch": np.ones((2, 1, 1)),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "steps.txt").write_text("1 2\n3 4\n\n5 6\n")
    (tmp_path / "nan.txt").write_text("1 2\n3 4\n\n5 nan\n6 7\n")
    np.save(tmp_path / "ones.npy", [np.eye(2), np.ones((2, 2))])
    np.save(tmp_path / "fields.npy", np.zeros(2, dtype=[("a", float)]))
    header = io.BytesIO()  # of a terabyte
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    (tmp_path / "lying.npy").write_bytes(header.getvalue() + bytes(64))
    with zipfile.ZipFile(tmp_path / "lying.npz", "w") as archive:
        archive.writestr("a.npy", header.getvalue() + bytes(64))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    return tmp_path
