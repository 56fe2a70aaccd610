"""Recipes: every number of the paper's tables has its place and its run; each goes the whole way at scale smoke."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from learnalg.cli import main
from learnalg.reproduction.computed import COMPUTED, best_kept
from learnalg.config import replace_fields
from learnalg.config.presets import recipes
from learnalg.reproduction.tables import RECIPES, SCALES, Cell, Recipe, Shown, lookup, paper_table
from learnalg.reproduction.making import fast, paper
from learnalg.reproduction.experiment import SMOKE_CELLS, paper_numbers
from learnalg.reproduction.report.drawing import COMPUTED_FIGURES, CURVE_FIGURES, save_figure
from learnalg.reproduction.runner import cell_folder, choose, load_result, missing_model, plan, run_cells
from learnalg.training.run import Run, all_examples, write_json
from learnalg.reproduction.table import as_markdown, table_of

LABELS = ("Tolerance %", "Error (sigma)")  # columns of numbers that no training gives
KEPT = set(recipes())  # each has its config, kept or still to be trained
OURS = ("ablation", "comparisons")  # recipes that are no table of the paper

every_recipe = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
every_scale = pytest.mark.parametrize("scale", SCALES)
every_paper_table = pytest.mark.parametrize(
    "recipe", [r for r in RECIPES.values() if r.cells and r.has_paper], ids=lambda recipe: recipe.name
)


def is_number(value):
    return isinstance(value, int | float)


def places(recipe, scale):
    return [(shown.row, shown.column) for cell in recipe.cells_at(scale) for shown in cell.shows]


def test_all_tables_and_figures_are_there_in_the_papers_order():
    names = [*(f"table-{k}" for k in range(1, 30)), *(f"figure-{k}" for k in (1, 2, 3))]
    names += ["eigenvectors-analysis", "inversion-analysis", "speed"]
    assert [name for name in RECIPES if name not in OURS] == names
    tables = [name for name in paper_numbers() if name.startswith("table-")]
    assert set(tables) <= set(RECIPES)


@every_recipe
def test_a_recipe_is_a_file_that_says_what_it_shows_and_how_long_it_takes(recipe):
    kind, _, number = recipe.name.partition("-")
    name = f"table_{int(number):02d}" if kind == "table" else recipe.name.replace("-", "_")
    module = sys.modules[f"learnalg.reproduction.tables.{name}"]
    assert module.RECIPE is recipe
    assert recipe.title and module.__doc__
    if recipe.name not in OURS:
        assert "@TIME@" not in module.__doc__ and "two cores" in module.__doc__.replace("\n", " ")
    assert bool(recipe.cells) != bool(recipe.computed)
    assert not recipe.computed or recipe.computed in COMPUTED
    assert not recipe.figure or recipe.figure in (COMPUTED_FIGURES if recipe.computed else CURVE_FIGURES)


@every_recipe
@every_scale
def test_cells_have_unique_keys_and_known_origins(recipe, scale):
    cells = recipe.cells_at(scale)
    keys = [cell.key for cell in cells]
    assert len(set(keys)) == len(keys)
    for k, cell in enumerate(cells):
        assert not cell.init or cell.init in keys[:k], "what a cell starts from is run before it"
        assert not cell.kept or scale == "laptop"
        assert cell.kept in {"", *KEPT}
        if scale != "paper" or recipe.name in OURS:
            continue
        # Scale paper is the paper's: no ingredient of the preset fast.
        config = cell.config
        assert (config.optim.optimizer, config.optim.schedule, config.optim.warmup_steps) == ("adam", "cosine", 10_000)
        assert (config.train.batch_size, config.train.eval_every, config.train.eval_num) == (64, 300_000, 10_000)
        assert config.model.input_embedding == "lookup" and config.model.norm == "post" and not cell.note
    if scale == "smoke":
        assert len(cells) <= 2 * SMOKE_CELLS


@every_recipe
@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_a_shared_cell_is_the_same_in_the_recipe_that_keeps_it(recipe, scale):
    shared = [cell for cell in recipe.cells_at(scale) if cell.home and cell.home != recipe.name]
    homes = {home: {c.key: c for c in RECIPES[home].cells_at(scale)} for home in {cell.home for cell in shared}}
    for cell in shared:
        theirs = homes[cell.home][cell.key]
        assert (theirs.config, theirs.tests, theirs.kept) == (cell.config, cell.tests, cell.kept)
        assert theirs.tolerances == cell.tolerances and not theirs.home and theirs.init == cell.init


@every_paper_table
@every_scale
def test_shown_numbers_stand_on_numbers_of_the_papers_table(recipe, scale):
    columns, rows = paper_table(recipe.name)
    found = places(recipe, scale)
    assert len(set(found)) == len(found), "two cells fill one place"
    for row, column in found:
        assert columns[column] not in LABELS
        value = rows[row][column]
        # On two cores we may well try what the paper's models did not reach.
        assert is_number(value) or (value == "-" and scale == "laptop"), (row, column, value)


@every_paper_table
def test_every_number_that_the_paper_trained_for_has_its_run(recipe):
    columns, rows = paper_table(recipe.name)
    numbers = {
        (r, c)
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
        if is_number(value) and columns[c] not in LABELS
    }
    assert set(places(recipe, "paper")) == numbers


@pytest.mark.parametrize(
    ("name", "key", "column", "encodings", "fields"),
    [
        ("table-2", "p10-20", "Fixed / 20x20", ("p10", "p10"), {"dim_model": 256, "max_positions": 2003}),
        ("table-3", "5-15x5-15-1-6", "Variable / Rectangular / 5-15 / 1/6", ("b1999", "b1999"), {"decoder_layers": 6}),
        ("table-4", "p1000-14x2", "P1000 / 14x2 / 1/1", ("p1000", "p1000"), {"encoder_layers": 1}),
        ("table-5", "p1000-12x2", "Rectangular / 12x2 / 1/6", ("p1000", "p1000"), {"decoder_layers": 6}),
        ("table-6", "fp15-10-1-6", "Fixed / 10x10 / FP15 / 1/6", ("fp15", "fp15"), {"heads": 12, "dim_model": 516}),
        ("table-8", "fp15-p1000-5", "5x5 / FP15/P1000 / 6/1", ("fp15", "p1000"), {"encoder_layers": 6}),
        ("table-9", "fp15-p1000-10-4", "FP15/P1000 / 10/4 heads", ("fp15", "p1000"), {"decoder_heads": 4}),
        ("table-10", "svd-p10", "Singular vectors / P10 1/6", ("p10", "p10"), {"decoder_layers": 6}),
        ("table-15", "p1000-4-4-256", "P1000 / 256", ("p1000", "p1000"), {"encoder_layers": 4, "dim_model": 256}),
        ("table-17", "eigenvalues-8-8-1024", "Eigenvalues / 1024", ("p1000", "p1000"), {"dim_model": 1024}),
        ("table-22", "gru-p1000-2048-6", "P1000 / hidden 2048 / 6 layers", ("p1000", "p1000"), {"dim_model": 2048}),
        ("table-27", "add-p1000-4-4-256-noise-0.05", "P1000 / 4/4 / 256", ("p1000", "p1000"), {"encoder_layers": 4}),
        ("table-28", "eigenvalues-fp15-6-6-1024-noise-0.02", "FP15 / 6/6 / 1024", ("fp15", "fp15"), {"heads": 8}),
    ],
)
def test_a_run_stands_in_the_column_that_names_it(name, key, column, encodings, fields):
    recipe = RECIPES[name]
    cell = next(cell for cell in recipe.cells_at("paper") if cell.key == key)
    assert {paper_table(name)[0][shown.column] for shown in cell.shows} == {column}
    assert (cell.config.data.input_encoding, cell.config.data.output_encoding) == encodings
    assert {field: getattr(cell.config.model, field) for field in fields} == fields


@every_paper_table
def test_rows_of_tolerances_show_that_tolerance(recipe):
    columns, rows = paper_table(recipe.name)
    for cell in recipe.cells_at("paper"):
        for shown in cell.shows:
            tolerance = shown.measure.rpartition("/")[2]
            if "Tolerance %" in columns:
                assert float(tolerance) == rows[shown.row][columns.index("Tolerance %")] / 100
            elif columns[shown.column].endswith("%"):
                assert float(tolerance) == float(columns[shown.column].split()[-1].removesuffix("%")) / 100
            if "Error (sigma)" in columns:
                assert cell.config.data.noise == rows[shown.row][columns.index("Error (sigma)")]


def test_out_of_distribution_tests_are_the_papers():
    columns, _ = paper_table("table-12")
    trained = {0: "wigner 10.0", 5: "laplace 10.0", 6: "gaussian,uniform,laplace 10.0", 1: "wigner 1.0,100.0"}
    for scale in ("laptop", "paper"):
        cells = RECIPES["table-12"].cells_at(scale)
        assert {shown.row for cell in cells for shown in cell.shows} >= set(trained)
        for cell in cells:
            for shown in cell.shows:
                law, factor = columns[shown.column].split(" / ")
                changes = cell.tests[shown.measure.split("/")[1]]
                assert changes["ensemble"] == (law.lower(),) and changes["sigma_factor"] == float(factor)
                assert changes["amplitude"] == (10.0,), "sigma_test is measured by A = 10, whatever was trained on"
            data, row = cell.config.data, cell.shows[0].row
            if row in trained:
                laws = ",".join(data.ensemble).replace("iid-uniform", "wigner")  # two names of the same
                assert f"{laws} {','.join(map(str, data.amplitude))}" == trained[row]
    assert len(columns) - 1 == len(RECIPES["table-12"].cells_at("paper")[0].tests) == 11


def test_laptop_has_what_two_cores_can_do():
    cells = {name: RECIPES[name].cells_at("laptop") for name in RECIPES}
    of_no_table = {"add-5-relations", "eigenvalues-3", "eigenvectors-3", "matmul-5"}
    of_no_table |= {"eigenvectors-5", "eigenvectors-5-products", "eigenvectors-5-longer", "eigenvectors-5-second"}
    of_no_table |= {"inverse-2", "inverse-3", "inverse-4", "inverse-5", "inverse-5-precise"}
    of_no_table |= {"svd-4", "svd-4-second", "svd-4-ties"}
    assert {cell.kept for group in cells.values() for cell in group} - {""} == KEPT - of_no_table
    assert any(cell.config.data.dim == "5-15" for cell in cells["table-2"])
    assert any(cell.config.data.dim == "5-10" for cell in cells["table-3"])
    assert any(cell.config.data.dim == "5-10" for cell in cells["table-6"])
    assert {cell.config.data.task for cell in cells["table-11"]} == {"add", "eigenvalues"}
    assert {cell.config.model.architecture for cell in cells["table-21"]} == {"lstm", "gru"}
    loops = {c.config.model.loop_gate for c in cells["table-23"] if c.config.model.architecture == "universal"}
    assert loops == {"none", "copy", "act"}
    assert [cell.init for cell in cells["table-25"]] == ["", "from-eigenvalues-5-products"]
    assert [cell.key for cell in cells["table-26"]] == ["ta", "tadm"]


CURVE = [
    {"examples": 300, "accuracy": {"0.05": 0.5}},
    {"examples": 600, "accuracy": {"0.05": 0.96}},
    {"examples": 900, "accuracy": {"0.05": 0.94}},
]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("report/loss", 2.0),
        ("reached/0.05/0.95", 600),
        ("reached/0.05/0.5", 300),
        ("reached/0.05/0.97", None),
        ("after/600/0.05", 0.96),
        ("after/601/0.05", 0.94),
        ("after/5000/0.05", 0.94),
    ],
)
def test_measures(path, value):
    assert lookup({"report": {"loss": 2.0}, "curve": CURVE}, path) == value


def test_a_measure_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"report/accuracy/l1: nothing at 'accuracy'"):
        lookup({"report": {}}, "report/accuracy/l1")


def test_configs_in_a_line():
    config = paper("add", "20", "1/6", "fp15/p1000", 1_000, dim_model=64)
    assert (config.data.input_encoding, config.data.output_encoding) == ("fp15", "p1000")
    assert (config.model.encoder_layers, config.model.decoder_layers, config.model.dim_model) == (1, 6, 64)
    assert config.model.max_positions == 20 * 20 * 3 + 3  # the sum in P1000, its dimensions and the end
    assert paper("add", "5", "1/1", "p1000", 1_000).model.max_positions == 512
    assert fast("add", "5", "1/1", 1_000).train.eval_every == 100


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """One folder for all recipes: what they share is run once."""
    return tmp_path_factory.mktemp("reproduce")


@every_recipe
def test_smoke(recipe, root):
    before = as_markdown(table_of(recipe, "smoke", root))
    left = [
        cell for cell in recipe.cells_at("smoke") if cell.shows and load_result(recipe, "smoke", cell, root) is None
    ]
    assert ("not run" in before) == bool(left)  # others may have run all that it shares with them
    run_cells(recipe, "smoke", root)
    assert {step.state for step in plan(recipe, "smoke", root)} == {"done"}
    table = table_of(recipe, "smoke", root)
    assert "not run" not in as_markdown(table)
    assert any(number.text for row in table.rows for number in row)
    if recipe.figure:
        drawn = save_figure(recipe, "smoke", root)
        assert drawn is not None and drawn.read_text().lstrip().startswith("<?xml")
        assert "</svg>" in drawn.read_text()
    files = {path: path.stat().st_mtime_ns for path in (root / "results").rglob("*.json")}
    run_cells(recipe, "smoke", root)
    assert files == {path: path.stat().st_mtime_ns for path in (root / "results").rglob("*.json")}


def test_a_cell_counts_the_examples_of_what_it_started_from(root):
    recipe = RECIPES["table-25"]
    run_cells(recipe, "smoke", root)
    children = [cell for cell in recipe.cells_at("smoke") if cell.init]
    assert children
    for cell in children:
        result = load_result(recipe, "smoke", cell, root)
        assert result["origin"] == {"model": cell.init, "examples": 32}
        assert all_examples(result) == 64


RESULT = {"report": {"num": 100, "seed": 0, "accuracy": {"l1": {"0.05": 0.9, "0.02": 0.5}}}, "curve": CURVE}


def kept_recipe(**fields):
    cell = Cell("own", fast("add", "2", "1/1", 100), (Shown("row", "column", "report/accuracy/l1/0.05"),), **fields)
    return Recipe("some-recipe", "Some", lambda scale: [cell], has_paper=False)


def test_a_kept_model_without_a_result_is_not_run_and_is_named(tmp_path):
    recipe = kept_recipe(kept="no-model")
    cell = recipe.cells_at("laptop")[0]
    assert missing_model(recipe, "laptop", cell, tmp_path) == "no-model"
    (step,) = plan(recipe, "laptop", tmp_path)
    assert (step.state, step.examples, step.note) == ("missing", 0, "waits for no-model")
    run_cells(recipe, "laptop", tmp_path)
    assert "not run" in as_markdown(table_of(recipe, "laptop", tmp_path))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "no-model.json").write_text(json.dumps(RESULT))
    assert missing_model(recipe, "laptop", cell, tmp_path) == ""
    assert plan(recipe, "laptop", tmp_path)[0].state == "done"
    number = table_of(recipe, "laptop", tmp_path).rows[0][1]
    assert number.text == "90.0"
    assert number.interval == pytest.approx((82.56, 94.48), abs=0.01)


def test_what_starts_from_a_missing_model_waits_for_it(tmp_path):
    origin = Cell("origin", fast("add", "2", "1/1", 100), (), kept="no-model")
    child = replace(origin, key="child", kept="", init="origin")
    recipe = Recipe("some-recipe", "Some", lambda scale: [origin, child], has_paper=False)
    assert missing_model(recipe, "laptop", child, tmp_path) == "no-model"
    run_cells(recipe, "laptop", tmp_path)
    assert not (tmp_path / "runs").exists()
    assert [step.state for step in plan(recipe, "laptop", tmp_path)] == ["missing", "missing"]


def test_a_run_that_was_begun_goes_on_unless_the_recipe_has_changed(tmp_path):
    tiny = {"dim_model": 8, "heads": 1, "batch_size": 10, "eval_num": 5, "final_num": 5, "workers": 0}
    cell = Cell("own", fast("add", "2", "1/1", 100, **tiny), ())
    recipe, changed = (
        Recipe("some-recipe", "Some", lambda scale, config=config: [replace(cell, config=config)], has_paper=False)
        for config in (cell.config, replace_fields(cell.config, soft_width=2.0, examples=200))
    )
    folder = cell_folder(recipe, "laptop", cell, tmp_path)
    Run.create(folder, replace_fields(cell.config, threads=1, precision="fp32"))  # as a run settles them
    assert plan(recipe, "laptop", tmp_path)[0].state == "begun"
    (step,) = plan(changed, "laptop", tmp_path)
    assert (step.state, step.examples) == ("stale", 200)
    with pytest.raises(ValueError, match=r"begun with another optim.soft_width, train.examples: remove it"):
        run_cells(changed, "laptop", tmp_path)
    assert not (tmp_path / "results").exists()
    Run.open(folder).add_session(init="add-5")  # from weights that the recipe does not name
    (step,) = plan(recipe, "laptop", tmp_path)
    assert step.state == "stale" and "begun with another init: " in step.note


def test_what_was_never_reached_says_so(tmp_path):
    shown = (Shown("row", "column", "reached/0.05/0.99"),)
    cell = replace(kept_recipe(kept="m").cells_at("laptop")[0], shows=shown)
    recipe = Recipe("some-recipe", "Some", lambda scale: [cell], has_paper=False)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "m.json").write_text(json.dumps(RESULT))
    assert table_of(recipe, "laptop", tmp_path).rows[0][1].text == "never"


def test_analyses_wait_for_their_model(tmp_path):
    recipe = RECIPES["inversion-analysis"]
    run_cells(recipe, "paper", tmp_path)
    assert not (tmp_path / "results").exists()
    assert plan(recipe, "paper", tmp_path)[0].state == "to do"
    assert "51.5" in as_markdown(table_of(recipe, "paper", tmp_path))


def test_computed_tables_agree_with_the_paper(tmp_path):
    rows = COMPUTED["parameters"]("smoke", tmp_path)["rows"]
    assert [row[2]["ours"] for row in rows] == [row[2]["paper"] for row in rows]
    encodings = COMPUTED["encodings"]("smoke", tmp_path)["rows"]
    assert [row[1]["ours"] for row in encodings] == [row[1]["paper"] for row in encodings]
    assert [row[3]["ours"] for row in encodings] == [5, 3, 2, 1]
    assert [row[4]["ours"] for row in encodings][:2] == [213, 1104]  # appendix A
    spectra = COMPUTED["spectra"]("smoke", tmp_path)
    for row in spectra["rows"]:
        for place in row[1:]:
            assert place["ours"] == pytest.approx(place["paper"], rel=0.06)  # 200 matrices


def test_analyses_are_of_the_largest_kept_matrices_that_are_mostly_right(tmp_path):
    def write(name, dim, share):
        config = {"data": {"task": "inverse", "dim": dim}}
        result = {"config": config, "report": {"accuracy": {"l1": {"0.05": share}}}}
        write_json(tmp_path / "results" / f"{name}.json", result)

    (tmp_path / "results").mkdir()
    assert best_kept("inverse", tmp_path) is None
    write("inverse-5", "5", 0.4)
    write("inverse-2", "2", 0.9)
    assert best_kept("inverse", tmp_path) == Path("inverse-2")
    write("inverse-3", "2-3", 0.6)
    write("no-such-model", "9", 0.99)  # has a result, and no weights
    assert best_kept("inverse", tmp_path) == Path("inverse-3")
    write("inverse-5", "5", 0.7)
    assert best_kept("inverse", tmp_path) == Path("inverse-5")


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["reproduce", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_cli_lists_every_recipe_of_a_scale(call):
    code, out, _ = call("table-9", "table-29", "figure-3", "--list")
    assert code == 0
    names = [line.split()[0] for line in out.splitlines()[1:-2]]
    assert names == ["table-9", "table-29", "figure-3"]
    assert "0/1" in out and "--dry-run" in out


def test_cli_plans_without_running(call, tmp_path):
    code, out, _ = call("table-25", "--dry-run")
    assert code == 0
    assert "waits for eigenvalues-5-products" in out and "p1000-5-6" in out and "left: 40,000 examples" in out
    assert list(tmp_path.iterdir()) == []


def test_cli_runs_chosen_cells_only(call, tmp_path):
    code, out, _ = call("table-26", "--scale", "smoke", "--cells", "efi", "--quiet")
    assert code == 0 and "not run (100)" in out
    assert [path.stem for path in (tmp_path / "results/table-26/smoke").iterdir()] == ["efi"]


def test_cli_names_a_run_that_was_begun_under_another_recipe_and_goes_on(call, tmp_path):
    recipe = RECIPES["table-26"]
    first, *others = (cell for cell in recipe.cells_at("smoke") if cell.shows)
    Run.create(cell_folder(recipe, "smoke", first, tmp_path), replace_fields(first.config, seed=7))
    code, out, _ = call("table-26", "--scale", "smoke", "--quiet")
    assert (
        code == 0 and f"{first.key}: not run, runs/table-26/smoke/{first.key} was begun with another train.seed" in out
    )
    done = {path.stem for path in (tmp_path / "results/table-26/smoke").iterdir()}
    assert others and {cell.key for cell in others} <= done and first.key not in done


def test_cli_names_the_missing_model(call):
    code, out, _ = call("table-9", "--quiet")
    assert code == 0
    assert "fp15-p1000-12-8: not run, the kept model inverse-5-digits" in out and "not run (90.0)" in out


def test_cli_shows_what_was_computed(call, tmp_path):
    assert call("table-1")[0] == 0
    code, out, _ = call("table-1", "--show")
    assert code == 0 and "[+, 314, E-2] ([+, 314, E-2])" in out
    assert [path.name for path in (tmp_path / "results/table-1/laptop").iterdir()] == ["table-1.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table-30",), "unknown recipe table-30"),
        ((), "which table or figure?"),
        (("table-6", "--cells", "nothing-like-it"), "no cell of table-6 has nothing-like-it"),
        (("ablation", "--cells", "add-5x5-fast-1", "add-5x5-fats-2"), "has add-5x5-fats-2 in its name; closest of"),
    ],
)
def test_cli_refuses_unknown_names(call, arguments, message):
    code, _, err = call(*arguments)
    assert code == 2 and message in err


def test_a_whole_name_picks_that_cell_alone_and_what_it_starts_from():
    keys = [cell.key for cell in choose(RECIPES["table-2"], "laptop", ("b1999-5-15",))]
    assert keys == ["b1999-10", "b1999-5-15"]
    part = [cell.key for cell in choose(RECIPES["table-2"], "laptop", ("5-15",))]
    assert part == ["b1999-10", "b1999-5-15", "b1999-5-15x5-15"]
