"""The commands behind `learnalg NAME`: each parses its flags, calls one function and prints.

torch is loaded by the commands that need it, after their flags are checked.
"""

from learnalg.commands.analysing import run_analyse
from learnalg.commands.benching import run_bench
from learnalg.commands.keeping import run_verify
from learnalg.commands.looking import run_decode, run_encode, run_list, run_params
from learnalg.commands.reporting import run_report
from learnalg.commands.reproducing import run_reproduce
from learnalg.commands.testing import run_evaluate, run_solve
from learnalg.commands.training import run_resume, run_train

__all__ = [
    "run_analyse",
    "run_bench",
    "run_decode",
    "run_encode",
    "run_evaluate",
    "run_list",
    "run_params",
    "run_report",
    "run_reproduce",
    "run_resume",
    "run_solve",
    "run_train",
    "run_verify",
]
