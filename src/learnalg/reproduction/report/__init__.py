"""Results for people: tables in the terminal, texts and figures."""

from learnalg.evaluation.anatomy import print_analysis, save_analysis
from learnalg.cli.terminal import print_report, print_solution

__all__ = ["print_analysis", "print_report", "print_solution", "save_analysis"]
