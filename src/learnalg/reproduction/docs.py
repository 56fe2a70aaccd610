"""`python -m learnalg.reproduction.report`, in a checkout: brings up to date what is written from results/: the README, the table of
records and its figure, and what recipes say of themselves."""

from pathlib import Path

from learnalg.reproduction.report import speedrun
from learnalg.reproduction.report.docstrings import refresh_all
from learnalg.reproduction.report.readme import results_table, with_table

results = Path("results")
readme, records = Path("README.md"), Path("docs/speedrun.md")
readme.write_text(with_table(readme.read_text(), results_table(results)))
table = speedrun.records_table(results)
records.write_text(with_table(records.read_text(), table, speedrun.BEGIN, speedrun.END))
Path("docs/learning-curves.svg").write_bytes(speedrun.learning_curves(results))
refresh_all(Path("src/learnalg/recipes"), Path())
