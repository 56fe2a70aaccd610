"""Continue a run that was stopped."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from learnalg.cli.flags import Folder, parse
from learnalg.cli.plugins import load_plugins, plugins_in


@dataclass(frozen=True)
class Resume:
    """Continue a run that was stopped. It ends with the same weights as an undisturbed run. --examples gives it another
    budget, as long as its learning rate has not begun to fall."""

    run: Folder  # the run's folder
    checkpoint: str = ""  # a checkpoint by name; none: the newest
    examples: int | None = None  # another budget: training examples in all
    despite: tuple[str, ...] = ()  # resume from a checkpoint of another: config, version or processes
    skip_nonfinite: bool = False  # skip steps whose loss or gradient is not finite
    threads: int | None = None  # another number of threads of torch; the rounding of sums, so the weights, may differ
    quiet: bool = False  # no progress
    launch: str = ""  # run it as a job: local, slurm or ray, with options: slurm:minutes=240


def run(arguments: list[str]) -> int:
    command = parse(Resume, "resume", load_plugins(arguments))
    from learnalg.cli.progress import follow
    from learnalg.config import replace_fields
    from learnalg.training.loop import is_finished, resume
    from learnalg.training.run import Run

    run = Run.open(command.run)
    config = run.config
    if is_finished(command.run):
        if command.examples is not None or command.threads is not None:
            raise ValueError(f"{command.run} has finished: fine-tune from its weights with --init {command.run}")
        print(f"{command.run} has finished already")
        return 0
    if command.launch:
        said = dataclasses.replace(command, launch="", quiet=False)
        if said != Resume(command.run):
            raise ValueError("--launch resumes from the newest checkpoint, with nothing changed")
        from learnalg.cli.launching import launch_training

        return launch_training(command.launch, config, command.run, command.quiet, arguments)
    if command.examples is not None:
        config = replace_fields(config, examples=command.examples)
    again = " ".join(["learnalg resume", str(command.run), *plugins_in(arguments)])
    return follow(
        config,
        command.run,
        command.quiet,
        again,
        lambda watcher: resume(
            command.run,
            command.checkpoint,
            watcher,
            command.examples,
            command.despite,
            command.skip_nonfinite,
            command.threads,
        ),
        run.curve(),
    )
