"""The README says what results/ says, and shows what the examples are."""

import contextlib
import json
import re
from pathlib import Path

import pytest

from learnalg.config import to_dict
from learnalg.training.flops import counted_flops
from learnalg.models import build, sides
from learnalg.config.presets import preset, read_config, recipes, starts_from
from learnalg.reproduction.tables import RECIPES
from learnalg.reproduction.report import speedrun
from learnalg.reproduction.report.docstrings import recipe_file, refreshed
from learnalg.reproduction.report.readme import results_table, with_table
from learnalg.training.run import ZOO, all_examples, load_model, load_weights, set_weights

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "results").glob("*.json"))
README = (ROOT / "README.md").read_text()


def test_the_table_of_results_is_up_to_date():
    assert with_table(README, results_table(ROOT / "results")) == README, "run: python -m learnalg.reproduction.report"


def test_the_records_are_up_to_date():
    text = (ROOT / "docs/speedrun.md").read_text()
    table = speedrun.records_table(ROOT / "results")
    assert with_table(text, table, speedrun.BEGIN, speedrun.END) == text, "run: python -m learnalg.reproduction.report"


@pytest.mark.parametrize("name", speedrun.PROBLEMS)
def test_every_bar_is_reached(name):
    """As the table has them, with one decimal."""
    problem, result = speedrun.PROBLEMS[name], json.loads((ROOT / "results" / f"{name}.json").read_text())
    wanted, most = re.fullmatch(r"(.+) \((.+) M\)", problem.bar).groups()
    tolerances = ("0.0",) if problem.table == "table-2" else speedrun.TOLERANCES
    for tolerance, share in zip(tolerances, wanted.split(" / "), strict=True):
        assert round(100 * result["report"]["accuracy"]["l1"][tolerance], 1) >= float(share)
    assert all_examples(result) <= 1e6 * float(most)
    assert result["report"]["num"] == 10_000


def test_the_learning_curves_are_up_to_date():
    drawn = (ROOT / "docs/learning-curves.svg").read_text()
    for path in RESULTS:
        assert f"<!-- {path.stem} -->" in drawn, "run: python -m learnalg.reproduction.report"


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_has_its_weights_card_and_recipe(path):
    result = json.loads(path.read_text())
    config, model = load_model(Path(path.stem))
    assert (ZOO / f"{path.stem}.md").is_file()
    assert sum(p.numel() for p in model.parameters()) == result["parameters"]
    recipe = read_config(ROOT / "src/learnalg/recipes" / f"{path.stem}.toml", preset("fast"))
    assert to_dict(recipe)["data"] == to_dict(config)["data"]
    assert to_dict(recipe)["model"] == to_dict(config)["model"]
    assert to_dict(recipe)["optim"] == to_dict(config)["optim"]
    assert recipe.train.examples <= result["examples"] < recipe.train.examples + recipe.train.batch_size


@pytest.mark.parametrize("path", recipes().values(), ids=recipes())
def test_what_a_recipe_starts_from_is_kept(path):
    origin = starts_from(path)
    if origin:
        config, (first, tensors) = read_config(path, preset("fast")), load_weights(Path(origin))
        ours, theirs = (to_dict(c)["model"] for c in (config, first))
        different = {name for name in ours if ours[name] != theirs[name]}
        of_decoders = {
            "decoder_layers",
            "output_embedding",
            "relation_start",
        }  # where an encoder's relations only start
        assert different <= (of_decoders if config.train.init_part == "encoder" else set())
        model = build(config.model, *sides(config.data))
        set_weights(model, tensors, Path(origin), config.train.init_part)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_the_weights_do_what_the_result_says(path):
    report = json.loads(path.read_text())["report"]
    config, model = load_model(Path(path.stem))
    from learnalg.evaluation.evaluate import evaluate

    tolerances = tuple(float(tolerance) for tolerance in report["accuracy"]["l1"])
    again = evaluate(model, config.data, 200, report["seed"], tolerances)
    for tolerance, share in report["accuracy"]["l1"].items():
        assert abs(again.accuracy["l1"][tolerance] - share) < 0.15


def test_the_determinant_in_the_readme_is_the_example():
    shown = re.search(r"```python\nimport numpy as np\n\nfrom learnalg.problems.*?```", README, re.S)
    source = (ROOT / "examples/determinant.py").read_text()
    assert shown is not None
    assert source.partition('"""\n\nimport')[2] == shown[0].removeprefix("```python\nimport").removesuffix("```")


def test_the_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(from pathlib.*?)```", README, re.S)
    small = "examples=256, encoder_layers=1, dim_model=32, heads=2, eval_num=50, final_num=50, threads=1"
    assert "examples=200_000" in code
    scope: dict = {}
    exec(code.replace("examples=200_000", small).replace("num=1000", "num=50"), scope)
    assert scope["model"].solve([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]]).shape == (3, 1)


def test_every_command_line_in_the_readme_is_a_command_with_its_flags(capsys):
    from learnalg.cli import COMMANDS, main

    lines = re.findall(r"^    learnalg (.*?)(?: +#.*)?$", README, re.M)
    assert len(lines) >= 8
    for line in lines:
        command, *rest = line.split()
        assert command in COMMANDS
        with contextlib.suppress(SystemExit):
            main([command, "--help"])
        shown = capsys.readouterr().out
        flags = {word for word in rest if word.startswith("--")} - {"--plugin"}
        assert all(flag in shown for flag in flags), line


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_docstrings_of_recipes_say_what_was_measured(recipe):
    """`python -m learnalg.reproduction.report` writes them."""
    path = ROOT / "src/learnalg/recipes" / recipe_file(recipe)
    assert path.read_text() == refreshed(path.read_text(), recipe, ROOT, with_time=False)


def test_the_sentence_of_a_recipe_is_replaced_not_repeated():
    recipe = RECIPES["table-1"]
    once = refreshed('"""Encodings.\n"""\nREST = 1\n', recipe, ROOT, with_time=False)
    assert once == '"""Encodings.\n\nMeasured: results/table-1/laptop.\n"""\nREST = 1\n'
    assert refreshed(once, recipe, ROOT, with_time=False) == once
    assert "Not measured" in refreshed(once, recipe, ROOT / "nowhere", with_time=False)


def test_the_time_of_a_recipe_at_scale_laptop_is_counted():
    recipe = RECIPES["table-25"]
    source = '"""Sizes.\n\nTime: smoke seconds, laptop 999 minutes, paper 621 days.\n"""\n'
    (config,) = (cell.config for cell in recipe.cells_at("laptop") if not cell.kept)
    minutes = config.train.examples * counted_flops(config) / 60e9 / 60
    assert f"laptop {minutes:.0f} minutes, paper 621 days." in refreshed(source, recipe, ROOT)
