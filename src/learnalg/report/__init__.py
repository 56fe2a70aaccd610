"""Results for people: tables in the terminal."""

from learnalg.report.terminal import print_report, print_solution

__all__ = ["print_report", "print_solution"]
