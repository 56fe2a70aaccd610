"""Turn a finished run into a released model, or any model into a folder for a hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from learnalg.cli.flags import Name, parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Release:
    """Turn a finished run into a released model: its weights and card go to the package's zoo, its result with its
    accuracy on the test split to results/. The run must have been trained from a clean commit. With --hub, any model
    becomes a folder in the layout of the Hugging Face hub instead, and the package stays as it is."""

    run: Name  # the run's folder; with --hub also a released model, a .safetensors or a .pth file
    name: Name = ""  # name of the model, such as eigenvalues-5; with --hub that of the folder if none is given
    note: str = ""  # a note for the card
    also: tuple[str, ...] = ()  # test these sizes by themselves too: 5, 6x4, or 4:symmetric for one ensemble
    uncommitted: str = ""  # describes the uncommitted changes with which the run was resumed
    replace: bool = False  # replace the released model of that name; with --hub the files in the folder
    hub: Path | None = None  # write this folder: card with YAML header, model.safetensors, config.json
    license: str = ""  # with --hub: license of the weights, such as cc-by-4.0; none: mit
    num: int = 0  # with --hub: test examples; 0: 10,000, or those of the released model's result


def run(arguments: list[str]) -> int:
    command = parse(Release, "release", load_plugins(arguments))
    return _to_zoo(command) if command.hub is None else _to_hub(command, command.hub)


def _to_zoo(command: Release) -> int:
    from learnalg.cli.bars import bar
    from learnalg.cli.terminal import print_report
    from learnalg.training.devices import prepare_cpu
    from learnalg.training.release import TEST_NUM, release
    from learnalg.zoo.index import ZOO, released

    if not command.name:
        raise ValueError(
            "a released model needs a name: learnalg release RUN NAME; --hub FOLDER writes a folder instead"
        )
    for flag in ("license", "num"):
        if getattr(command, flag):
            raise ValueError(f"--{flag}: has no effect without --hub")
    if command.name in released() and not command.replace:
        raise ValueError(f"{command.name} is released already: choose another name, or --replace")
    prepare_cpu()
    with bar(f"{command.run} on the test split", TEST_NUM) as done:
        result = release(Path(command.run), command.name, command.note, command.uncommitted, command.also, done=done)
    print_report(result.report)
    print(f"released: {ZOO / command.name}.safetensors, its card and its result")
    return 0


def _to_hub(command: Release, folder: Path) -> int:
    from learnalg.cli.bars import bar
    from learnalg.cli.terminal import print_report
    from learnalg.training.devices import prepare_cpu
    from learnalg.zoo.hub import TEST_NUM, write_hub

    for flag in ("uncommitted", "also"):
        if getattr(command, flag):
            raise ValueError(f"--{flag}: has no effect with --hub")
    if command.num < 0:
        raise ValueError(f"num {command.num}: must not be negative")
    prepare_cpu()
    said = command.name, command.license, command.note
    with bar(f"{command.run} on the test split", command.num or TEST_NUM) as done:
        report = write_hub(command.run, folder, *said, num=command.num, replace=command.replace, done=done)
    print_report(report)
    print(f"written: {folder}, for `learnalg solve {folder}` or `hf upload NAME {folder}`")
    return 0
