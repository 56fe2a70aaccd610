"""The command line: what there is, and where it is. Thin, so that `learnalg --help` answers at once."""

from __future__ import annotations

import os
import sys

COMMANDS = {  # name -> summary; the function is commands.run_NAME
    "list": "tasks, encodings, ensembles, recipes and all else to choose from",
    "train": "train a model and watch it learn",
    "resume": "go on with a run that was stopped",
    "evaluate": "test a model, in its domain or out of it",
    "analyse": "why a model fails: conditioning, orthogonality, and what foretells failure",
    "verify": "evaluate kept weights again and compare with their result",
    "solve": "solve a matrix with a model, beside NumPy's answer",
    "reproduce": "run a table or figure of the paper, beside its numbers",
    "report": "write all tables and figures beside the paper's, as a page and as Markdown",
    "bench": "measure the speed of this machine",
    "encode": "numbers to tokens",
    "decode": "tokens to numbers",
    "params": "count a model's parameters, by part",
}


def overview() -> str:
    commands = "\n".join(f"  {name:<10}{summary}" for name, summary in COMMANDS.items())
    return f"""usage: learnalg COMMAND ...

Transformers that learn numerical linear algebra from examples.

commands:
{commands}

`learnalg COMMAND --help` shows a command's flags. To begin with:
  learnalg train --task eigenvalues --dim 3 --examples 200000 --out runs/ev3
  learnalg evaluate runs/ev3"""


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 well, 2 refused, 130 and 143 stopped by a signal."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    name = arguments[0]
    try:
        if name not in COMMANDS:
            raise ValueError(f"unknown command {name!r}; known: {', '.join(COMMANDS)}")
        from learnalg import commands

        run = getattr(commands, f"run_{name}")
        code: int = run(arguments[1:])
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `learnalg list tasks | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit would fail again
        return 0
    except (ValueError, OSError) as error:
        print(f"learnalg: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
