"""Models by name; damaged weights are refused."""

import json
import shutil

import pytest

from learnalg.cli import main
from learnalg.config import to_dict
from learnalg.files import results_folder, save_tensors
from learnalg.zoo import index, load
from learnalg.zoo.index import ZOO, find_model, released
from learnalg.zoo.load import load_model, load_weights


def test_a_model_is_a_folder_a_file_or_a_name(tiny_run):
    file = tiny_run.folder / "model.safetensors"
    assert find_model(tiny_run.folder) == find_model(file) == file
    assert find_model("eigenvalues-3") == ZOO / "eigenvalues-3.safetensors"
    with pytest.raises(ValueError, match="did you mean 'eigenvalues-3'"):
        find_model("eigenvalue-3")


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("place", [-1, -5_000, len("12345678{")])
def test_flipped_bytes_of_a_run_are_refused(tiny_run, tmp_path, place):
    folder = shutil.copytree(tiny_run.folder, tmp_path / "run")
    load_model(folder)
    flip(folder / "model.safetensors", place)
    with pytest.raises(ValueError, match="damaged"):
        load_model(folder)


@pytest.mark.parametrize("command", ["evaluate", "verify", "solve"])
def test_flipped_bytes_of_a_released_model_are_refused(tmp_path, monkeypatch, capsys, command):
    """They loaded silently, and the answers were a little worse."""
    shutil.copy(ZOO / "eigenvalues-3.safetensors", tmp_path)
    for module in (index, load):
        monkeypatch.setattr(module, "ZOO", tmp_path)
    monkeypatch.setattr("learnalg.cli.verify.ZOO", tmp_path)
    (tmp_path / "m.txt").write_text("1 2 3\n2 5 -4\n3 -4 0.5\n")
    arguments = {"solve": [str(tmp_path / "m.txt")]}.get(command, ["--num", "20"])
    assert main([command, "eigenvalues-3", *arguments]) == 0
    flip(tmp_path / "eigenvalues-3.safetensors", -5_000)
    capsys.readouterr()
    code = main([command, "eigenvalues-3", *arguments])
    said = capsys.readouterr()
    if command == "verify":
        assert code == 1 and "DIFFERS in SHA-256" in said.out
    else:
        assert code == 2 and "eigenvalues-3.safetensors is damaged" in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize("name", released())
def test_every_released_model_is_loaded(name):
    config, tensors = load_weights(name)
    assert tensors and config.data.task
    assert (results_folder() / f"{name}.json").is_file()


@pytest.mark.parametrize(
    "fields",
    [
        {"dim_model": 2**20},
        {"ffn_factor": 10**9},
        {"products": 10**9},
        {"encoder_layers": 10**9},
        {"architecture": "gru:embedding_dim=1000000000", "heads": 8},
        {"positions": "learned", "max_positions": 2**16, "dim_model": 1024},
    ],
)
def test_a_config_that_asks_for_terabytes_is_refused(tiny_run, tiny_config, tmp_path, fields):
    _, tensors = load_weights(tiny_run.folder)
    config = {"format": "learnalg-2", "config": json.dumps(to_dict(tiny_config(**fields)))}
    save_tensors(tmp_path / "m.safetensors", tensors, config)
    with pytest.raises(ValueError, match="do not fit: its config"):
        load_model(tmp_path / "m.safetensors")
