"""The command line: what there is, and where it is. Thin, so that `learnalg --help` answers at once.

A command is a module here of the same name, with a function `run` that takes the arguments and returns the exit code.
A new one is a file and a line in COMMANDS.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from learnalg.naming import unknown

COMMANDS = {  # name -> summary
    "list": "tasks, encodings, ensembles, recipes, released models and everything else to choose from",
    "train": "train a model and watch it learn",
    "resume": "continue a run that was stopped",
    "replay": "take one step of a run again, to see why it was not finite",
    "sweep": "search for the best settings, by many short runs",
    "runs": "list your runs: what they train, how far they are, their accuracy",
    "compare": "set runs and released models side by side: settings, cost, learning curves",
    "evaluate": "test a model, in distribution or out of it",
    "analyse": "why a model fails: conditioning, orthogonality, and what predicts failure",
    "verify": "evaluate released models again and compare with their results",
    "solve": "solve matrices from files or a pipe, with a proof of each answer",
    "export": "write problems and their solutions to a file, JSONL or Parquet",
    "reproduce": "run a table or figure of the paper, beside its numbers",
    "serve": "open a page on this machine: try and explore models, watch runs, the paper's tables",
    "report": "write all tables and figures beside the paper's, as a page and Markdown",
    "docs": "regenerate the tables and figures of the documentation from results",
    "release": "turn a finished run into a released model",
    "bench": "measure the speed of this machine",
    "encode": "numbers to tokens",
    "decode": "tokens to numbers",
    "params": "count a model's parameters, by part",
    "work": "run one job of a command with --launch (engines call it)",
}


def overview() -> str:
    commands = "\n".join(f"  {name:<11}{summary}" for name, summary in COMMANDS.items())
    return f"""usage: learnalg COMMAND ...

Transformers that learn numerical linear algebra from examples.

commands:
{commands}

`learnalg COMMAND --help` shows a command's flags. To begin with:
  learnalg train --task eigenvalues --dim 3 --examples 2e5 --out runs/ev3
  learnalg evaluate runs/ev3"""


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 success, 1 a model that does not verify, an answer that is not trusted or a job that failed,
    2 refused, 130 and 143 stopped by a signal."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `learnalg list tasks | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit would fail again
        return 0
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError, MemoryError) as error:
        print(f"learnalg: error: {shown(str(error) or 'out of memory')}", file=sys.stderr)
        return 2


MOST_SHOWN = 2_000  # characters of an error


def shown(text: str) -> str:
    """Text as one line of printable characters: an error may quote a file from a stranger."""
    half = MOST_SHOWN // 2
    text = text if len(text) <= MOST_SHOWN else f"{text[:half]} ... {text[-half:]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    name = arguments[0]
    if name not in COMMANDS:
        raise unknown("command", name, COMMANDS)
    from learnalg.cli.plugins import PluginErrors
    from learnalg.cli.process import prepare_process

    prepare_process()
    try:
        with PluginErrors():
            return int(import_module(f"learnalg.cli.{name}").run(arguments[1:]))
    except SystemExit as stop:  # help was shown, or a signal has stopped a run
        return int(stop.code or 0)
