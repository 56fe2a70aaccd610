"""`python -m learnalg.report`, in a checkout: brings the README's table of results up to date."""

from pathlib import Path

from learnalg.report.readme import results_table, with_table

readme = Path("README.md")
readme.write_text(with_table(readme.read_text(), results_table(Path("results"))))
