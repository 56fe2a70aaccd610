"""`python -m learnalg.report`, in a checkout: brings the README, the table of records and its figure up to date."""

from pathlib import Path

from learnalg.report import speedrun
from learnalg.report.readme import results_table, with_table

results = Path("results")
readme, records = Path("README.md"), Path("docs/speedrun.md")
readme.write_text(with_table(readme.read_text(), results_table(results)))
table = speedrun.records_table(results)
records.write_text(with_table(records.read_text(), table, speedrun.BEGIN, speedrun.END))
Path("docs/learning-curves.svg").write_bytes(speedrun.learning_curves(results))
