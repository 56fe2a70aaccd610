"""Turn a finished run into a released model."""

from __future__ import annotations

from dataclasses import dataclass

from learnalg.cli.flags import Folder, Name, parse
from learnalg.cli.plugins import load_plugins


@dataclass(frozen=True)
class Release:
    """Turn a finished run into a released model: its weights and card go to the package's zoo, its result with its
    accuracy on the test split to results/. The run must have been trained from a clean commit."""

    run: Folder  # the run's folder
    name: Name  # name of the model, such as eigenvalues-5
    note: str = ""  # a note for the card
    uncommitted: str = ""  # describes the uncommitted changes with which the run was resumed
    replace: bool = False  # replace the released model of that name


def run(arguments: list[str]) -> int:
    command = parse(Release, "release", load_plugins(arguments))
    from learnalg.cli.bars import bar
    from learnalg.cli.terminal import print_report
    from learnalg.training.devices import prepare_cpu
    from learnalg.training.release import TEST_NUM, release
    from learnalg.zoo.index import ZOO, released

    if command.name in released() and not command.replace:
        raise ValueError(f"{command.name} is released already: choose another name, or --replace")
    prepare_cpu()
    with bar(f"{command.run} on the test split", TEST_NUM) as done:
        result = release(command.run, command.name, command.note, command.uncommitted, done=done)
    print_report(result.report)
    print(f"released: {ZOO / command.name}.safetensors, its card and its result")
    return 0
