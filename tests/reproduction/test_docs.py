"""What the documentation says of results is what results say, and the released models do what their results say."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from learnalg.evaluation.evaluate import evaluate
from learnalg.evaluation.result import Origin, Result
from learnalg.files import results_folder
from learnalg.problem import Problem
from learnalg.reproduction.report.records import (
    PROBLEMS,
    TOLERANCES,
    headline_table,
    in_order,
    learning_curves,
    records_table,
    sizes_along_training,
)
from learnalg.reproduction.report.speeds import speed_table
from learnalg.reproduction.report.verdicts import refined_table, verdict_table
from learnalg.reproduction.report.writing import (
    CARDS,
    CARDS_MARKS,
    README_MARKS,
    RECORDS_MARKS,
    REFINED_MARKS,
    SPEED_MARKS,
    VERDICT_MARKS,
    between,
    write_docs,
)
from learnalg.zoo.cards import table_of_cards
from learnalg.zoo.index import released
from learnalg.zoo.load import load_model
from learnalg.zoo.verdict import read_refined, read_verdict

ROOT = Path(__file__).parents[2]
RESULTS = {name: Result.read(results_folder() / f"{name}.json") for name in released()}


def test_the_readme_and_the_records_are_up_to_date():
    readme, records, zoo = ((ROOT / name).read_text() for name in ("README.md", "docs/speedrun.md", "docs/zoo.md"))
    assert README_MARKS[0] in readme and RECORDS_MARKS[0] in records
    assert between(readme, headline_table(RESULTS), README_MARKS) == readme, "run: learnalg docs"
    assert CARDS_MARKS[0] in zoo
    assert between(zoo, table_of_cards(in_order(RESULTS), CARDS), CARDS_MARKS) == zoo, "run: learnalg docs"
    assert between(records, records_table(RESULTS), RECORDS_MARKS) == records, "run: learnalg docs"
    linalg = (ROOT / "docs/linalg.md").read_text()
    assert VERDICT_MARKS[0] in linalg and REFINED_MARKS[0] in records
    assert between(linalg, verdict_table(in_order(RESULTS)), VERDICT_MARKS) == linalg, "run: learnalg docs"
    assert between(linalg, speed_table(in_order(RESULTS)), SPEED_MARKS) == linalg, "run: learnalg docs"
    assert between(records, refined_table(in_order(RESULTS)), REFINED_MARKS) == records, "run: learnalg docs"


VERDICTS = {name: verdict for name in RESULTS if (verdict := read_verdict(name, RESULTS[name].sha256))}
REFINED = {name: refined for name in RESULTS if (refined := read_refined(name, RESULTS[name].sha256))}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts_can_be_believed(name):
    """Of what is trusted, 99 % is right, in distribution and out of it; of what is right in distribution, 95 % is
    trusted."""
    inside, outside = VERDICTS[name].shares(True), VERDICTS[name].shares(False)
    assert inside.precision >= 0.99 and inside.recall >= 0.95
    assert outside.precision is None or outside.precision >= 0.99


@pytest.mark.parametrize("name", REFINED)
def test_refined_answers_are_certified_and_right(name):
    refined = REFINED[name]
    assert refined.wrong == 0 and refined.exact <= refined.certified <= refined.num
    assert refined.certified / refined.num >= 0.99 and refined.exact / refined.num >= 0.99
    assert refined.steps < refined.standard_steps


def test_the_learning_curves_are_those_of_the_headline_models():
    """Their names and as many points; how these are drawn is matplotlib's business, and differs with its version."""
    drawn = (ROOT / "docs/learning-curves.svg").read_text()
    fresh = learning_curves({name: RESULTS[name] for name in PROBLEMS}).decode()
    points = sum(len(RESULTS[name].curve) for name in PROBLEMS) * len(TOLERANCES)
    assert all(f"<!-- {name} -->" in drawn for name in PROBLEMS), "run: learnalg docs"
    assert drawn.count("<use ") == fresh.count("<use ") > points, "run: learnalg docs"


def test_docs_are_written_once(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"before\n{README_MARKS[0]}\nold\n{README_MARKS[1]}\nafter\n")
    (tmp_path / "docs/speedrun.md").write_text("no marks\n")
    (tmp_path / "docs/zoo.md").write_text("no marks\n")
    names = ("README.md", "docs/learning-curves.svg", "docs/out-of-distribution.svg", "docs/sizes.svg")
    assert write_docs(tmp_path) == [tmp_path / name for name in names]
    assert write_docs(tmp_path) == []
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert (tmp_path / "docs/speedrun.md").read_text() == "no marks\n"


def test_docs_are_for_a_checkout(tmp_path):
    with pytest.raises(ValueError, match="for a checkout"):
        write_docs(tmp_path)


def test_the_headline_has_the_papers_problems():
    lines = headline_table(RESULTS).splitlines()[2:]
    assert len(lines) == len(PROBLEMS) == 12


@pytest.mark.parametrize("table", [headline_table, records_table])
def test_examples_and_minutes_are_of_all_runs_behind_a_model(table):
    name = "add-5"
    alone = replace(RESULTS[name], examples=30_000, seconds=600.0, flops_per_example=1e6, origin=None)
    (row,) = [line for line in table({name: alone}).splitlines() if f"[{name}]" in line]
    assert "0.03 M" in row and re.search(r"\| 10(\.0)? \|", row)
    origin = Origin("other", "all", examples=970_000, seconds=5_400.0, flops=9e12)
    (row,) = [line for line in table({name: replace(alone, origin=origin)}).splitlines() if f"[{name}]" in line]
    assert "1.00 M" in row and re.search(r"\| 100(\.0)? \|", row)
    assert table is headline_table or "9.0e+12" in row


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_bar_is_reached(name):
    """As the table has them, with one decimal."""
    problem, result = PROBLEMS[name], RESULTS[name]
    wanted, most = re.fullmatch(r"(.+) \((.+) M\)", problem.bar).groups()
    tolerances = ("0.0",) if problem.is_exact else TOLERANCES
    for tolerance, share in zip(tolerances, wanted.split(" / "), strict=True):
        assert round(100 * result.report.accuracy["l1"][tolerance], 1) >= float(share)
    assert result.all_examples <= 1e6 * float(most)
    assert result.report.num == 10_000


@pytest.mark.parametrize("name", RESULTS)
def test_the_weights_do_what_the_result_says(name):
    result = RESULTS[name]
    config, model = load_model(name)
    assert config == result.config
    assert sum(p.numel() for p in model.parameters()) == result.parameters
    shares = result.report.accuracy["l1"]
    again = evaluate(model, Problem(config.data), 50, result.report.seed, tuple(map(float, shares)))
    for tolerance, share in shares.items():
        assert abs(again.accuracy["l1"][tolerance] - share) < 0.3


def test_the_figure_of_sizes_has_each_square_size_of_each_model_that_kept_them():
    result = RESULTS["eigenvalues"]
    assert sizes_along_training({"eigenvalues-5": RESULTS["eigenvalues-5"]}) is None
    shares = dict.fromkeys(TOLERANCES, 0.5)
    sizes = {"2x2": shares, "10x10": shares, "3x2": shares}
    kept = replace(result, curve=tuple(replace(point, by_dimension=sizes) for point in result.curve))
    drawn = sizes_along_training({"kept": kept, "eigenvalues-5": RESULTS["eigenvalues-5"]}).decode()
    labels = [label for label in ("<!-- kept -->", "<!-- 2x2 -->", "<!-- 10x10 -->") if label in drawn]
    assert len(labels) == 3 and "3x2" not in drawn and "eigenvalues-5" not in drawn
