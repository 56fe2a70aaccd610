"""Experiments: every number of the paper's tables has its place and its run; each goes the whole way at scale smoke."""

import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from learnalg.cli import main
from learnalg.config import replace_fields
from learnalg.config.presets import preset
from learnalg.evaluation.result import Point, Report, Result
from learnalg.reproduction.computed import COMPUTED, best_released
from learnalg.reproduction.configs import fast, paper
from learnalg.reproduction.experiment import SCALES, Cell, Experiment, Shown, paper_numbers, paper_table
from learnalg.reproduction.report.drawing import COMPUTED_FIGURES, CURVE_FIGURES, draw
from learnalg.reproduction.results import cell_folder, load_result
from learnalg.reproduction.runner import choose, missing_model, plan, run_experiment
from learnalg.reproduction.table import as_markdown, counts, lookup, table_of
from learnalg.reproduction.tables import EXPERIMENTS, FILES
from learnalg.reproduction.tables.ablation import REMOVED
from learnalg.training.preflight import check_before_start
from learnalg.training.run import Run
from learnalg.zoo.index import released

LABELS = ("Tolerance %", "Error (sigma)")  # columns of numbers that no training gives
OURS = ("ablation",)  # no table of the paper

every_experiment = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
every_scale = pytest.mark.parametrize("scale", SCALES)
every_paper_table = pytest.mark.parametrize(
    "experiment", [r for r in EXPERIMENTS.values() if r.cells and r.has_paper], ids=lambda experiment: experiment.name
)


@cache
def cells_at(experiment, scale):
    return experiment.cells_at(scale)


def is_number(value):
    return isinstance(value, int | float)


def places(experiment, scale):
    return [(shown.row, shown.column) for cell in cells_at(experiment, scale) for shown in cell.shows]


def test_all_tables_and_figures_are_there_in_the_papers_order():
    names = [*(f"table-{k}" for k in range(1, 30)), *(f"figure-{k}" for k in (1, 2, 3))]
    names += ["eigenvectors-analysis", "inversion-analysis", "speed"]
    names += ["wigner-scales", "universal-inverses", "recurrent-failures", "larger-svd", "large-models"]
    assert [name for name in EXPERIMENTS if name not in OURS] == names
    tables = [name for name in paper_numbers() if name.startswith("table-")]
    assert set(tables) <= set(EXPERIMENTS)


@every_experiment
def test_an_experiment_says_what_it_shows_and_stands_in_one_file(experiment):
    assert experiment.title
    assert sum(experiment in file.EXPERIMENTS for file in FILES) == 1
    assert bool(experiment.cells) != bool(experiment.computed)
    assert not experiment.computed or experiment.computed in COMPUTED
    assert not experiment.figure or experiment.figure in (COMPUTED_FIGURES if experiment.computed else CURVE_FIGURES)


@every_experiment
@every_scale
def test_cells_have_unique_keys_and_known_origins(experiment, scale):
    cells = cells_at(experiment, scale)
    keys = [cell.key for cell in cells]
    assert len(set(keys)) == len(keys)
    for k, cell in enumerate(cells):
        assert not cell.init or cell.init in keys[:k], "what a cell starts from is run before it"
        assert not cell.released or scale == "laptop"
        assert cell.released in {"", *released()}
        if scale != "paper" or experiment.name in OURS:
            continue
        # Scale paper is the paper's: no ingredient of the preset fast.
        config = cell.config
        assert (config.train.batch_size, config.train.eval_num) == (64, 10_000)
        if config.data.task == "transpose":  # as the published code trains it
            constant = replace(preset("paper-1").optim, schedule="constant", warmup_steps=0)
            assert (config.optim, config.train.eval_every) == (constant, 50_000)
        else:
            assert (config.optim, config.train.eval_every) == (preset("paper-1").optim, 300_000)
        assert config.model.input_embedding == "lookup" and config.model.norm == "post" and not cell.note
    if scale == "smoke":
        assert len(cells) <= 4  # two, and what they start from


@every_experiment
@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_a_shared_cell_is_the_same_in_the_experiment_that_keeps_it(experiment, scale):
    shared = [cell for cell in cells_at(experiment, scale) if cell.home and cell.home != experiment.name]
    homes = {home: {c.key: c for c in cells_at(EXPERIMENTS[home], scale)} for home in {cell.home for cell in shared}}
    for cell in shared:
        theirs = homes[cell.home][cell.key]
        assert (theirs.config, theirs.tests, theirs.released) == (cell.config, cell.tests, cell.released)
        assert theirs.tolerances == cell.tolerances and not theirs.home and theirs.init == cell.init


@every_paper_table
@every_scale
def test_shown_numbers_stand_on_numbers_of_the_papers_table(experiment, scale):
    columns, rows = paper_table(experiment.name)
    found = places(experiment, scale)
    assert len(set(found)) == len(found), "two cells fill one place"
    for row, column in found:
        assert columns[column] not in LABELS
        value = rows[row][column]
        # We may well try what the paper's models did not reach.
        may_try = scale == "laptop" or experiment.name == "table-17"
        assert is_number(value) or (value == "-" and may_try), (row, column, value)


@every_paper_table
def test_every_number_that_the_paper_trained_for_has_its_run(experiment):
    columns, rows = paper_table(experiment.name)
    numbers = {
        (r, c)
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
        if is_number(value) and columns[c] not in LABELS
    }
    found = set(places(experiment, "paper"))
    assert found >= numbers and (found == numbers or experiment.name == "table-17")


@pytest.mark.parametrize(
    ("name", "key", "column", "encodings", "fields"),
    [
        ("table-2", "p10-20", "Fixed / 20x20", ("p10", "p10"), {"dim_model": (256,), "max_positions": 2003}),
        ("table-3", "5-15x5-15-1-6", "Variable / Rectangular / 5-15 / 1/6", ("b1999", "b1999"), {"decoder_layers": 6}),
        ("table-4", "p1000-14x2", "P1000 / 14x2 / 1/1", ("p1000", "p1000"), {"encoder_layers": 1}),
        ("table-5", "p1000-12x2", "Rectangular / 12x2 / 1/6", ("p1000", "p1000"), {"decoder_layers": 6}),
        (
            "table-6",
            "fp15-10-1-6",
            "Fixed / 10x10 / FP15 / 1/6",
            ("fp15", "fp15"),
            {"heads": (12,), "dim_model": (516,)},
        ),
        ("table-8", "fp15-p1000-5", "5x5 / FP15/P1000 / 6/1", ("fp15", "p1000"), {"encoder_layers": 6}),
        ("table-9", "fp15-p1000-10-4", "FP15/P1000 / 10/4 heads", ("fp15", "p1000"), {"heads": (10, 4)}),
        ("table-10", "svd-p10", "Singular vectors / P10 1/6", ("p10", "p10"), {"decoder_layers": 6}),
        ("table-15", "p1000-4-4-256", "P1000 / 256", ("p1000", "p1000"), {"encoder_layers": 4, "dim_model": (256,)}),
        ("table-17", "eigenvalues-8-8-1024", "Eigenvalues / 1024", ("p1000", "p1000"), {"dim_model": (1024,)}),
        ("table-22", "gru-p1000-2048-6", "P1000 / hidden 2048 / 6 layers", ("p1000", "p1000"), {"dim_model": (2048,)}),
        ("table-27", "add-p1000-4-4-256-noise-0.05", "P1000 / 4/4 / 256", ("p1000", "p1000"), {"encoder_layers": 4}),
        ("table-28", "eigenvalues-fp15-6-6-1024-noise-0.02", "FP15 / 6/6 / 1024", ("fp15", "fp15"), {"heads": (8,)}),
    ],
)
def test_a_run_stands_in_the_column_that_names_it(name, key, column, encodings, fields):
    experiment = EXPERIMENTS[name]
    cell = next(cell for cell in cells_at(experiment, "paper") if cell.key == key)
    assert {paper_table(name)[0][shown.column] for shown in cell.shows} == {column}
    assert (cell.config.data.input_encoding, cell.config.data.output_encoding) == encodings
    assert {field: getattr(cell.config.model, field) for field in fields} == fields


@every_paper_table
def test_rows_of_tolerances_show_that_tolerance(experiment):
    columns, rows = paper_table(experiment.name)
    for cell in cells_at(experiment, "paper"):
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
        cells = cells_at(EXPERIMENTS["table-12"], scale)
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
    assert len(columns) - 1 == len(cells_at(EXPERIMENTS["table-12"], "paper")[0].tests) == 11


def test_laptop_has_what_two_cores_can_do():
    cells = {name: cells_at(EXPERIMENTS[name], "laptop") for name in EXPERIMENTS}
    assert {cell.released for group in cells.values() for cell in group} - {""} == {
        *("transpose-5", "transpose-10", "add-5", "add-10", "matvec-5", "matmul-5", "eigenvalues-5", "eigenvalues-8"),
        *("laplace-5", "eigenvectors-5", "singular-values-4", "svd-4", "inverse-5", "eigenvalues"),
        "eigenvectors",
    }
    assert any(cell.config.data.dim == "5-15" for cell in cells["table-2"])
    assert any(cell.config.data.dim == "5-10" for cell in cells["table-3"])
    assert any(test.get("dim") == "5-10" for cell in cells["table-6"] for test in cell.tests.values())
    assert {cell.config.model.encoder_loops for cell in cells["table-19"]} == {1, 2, 4, 8}
    assert {cell.config.data.task for cell in cells["table-11"]} == {"add", "eigenvalues"}
    assert {cell.config.model.architecture.partition(":")[0] for cell in cells["table-21"]} == {"lstm", "gru"}
    assert {c.config.model.architecture for c in cells["table-23"]} == {
        *("transformer", "transformer:loop_gate=copy", "transformer:loop_gate=act"),
    }
    assert [cell.init or cell.config.train.init for cell in cells["table-25"] if cell.shows] == [
        *("p10-5-6-6", "p10-5-6-6", "eigenvalues-5"),
    ]
    assert [cell.key for cell in cells["table-26"]] == ["ta", "tad", "tadm", "tadme", "tadmef", "tadmefi", "efi"]


@every_paper_table
def test_numbers_are_of_matrices_of_the_papers_size(experiment):
    sizes = {(s.row, s.column): cell.config.data.dim for cell in cells_at(experiment, "paper") for s in cell.shows}
    for cell in cells_at(experiment, "laptop"):
        for shown in cell.shows:
            test = shown.measure.split("/")[1] if shown.measure.startswith("tests/") else ""
            dim = cell.tests.get(test, {}).get("dim", cell.config.data.dim)
            assert sizes.get((shown.row, shown.column), dim) == dim, (cell.key, shown)


@every_experiment
def test_every_cell_for_two_cores_can_be_started(experiment, tmp_path):
    for cell in cells_at(experiment, "laptop"):
        if not cell.released and cell.config.train.seed == 1:
            check_before_start(cell.config, tmp_path / "run")


def test_the_ablation_removes_one_ingredient_at_a_time():
    cells = cells_at(EXPERIMENTS["ablation"], "laptop")
    base = {(c.config.data.task, c.config.train.seed): c.config for c in cells if c.shows[0].row == "all ingredients"}
    assert len(base) == 9 and len(cells) == 9 + 3 * (13 + 13 + 12)  # an inverse reads no triangle
    for config in base.values():
        assert config.model == preset("fast-2").model and config.optim == preset("fast-2").optim
    for cell in cells:
        name = cell.shows[0].row.removeprefix("without ")
        if name in REMOVED:
            whole = base[cell.config.data.task, cell.config.train.seed]
            assert cell.config == replace_fields(whole, **REMOVED[name]) != whole


CURVE = tuple(Point(k, 1.0, {"l1": {"0.05": share}}) for k, share in ((300, 0.5), (600, 0.96), (900, 0.94)))


def report(shares, num=100, **changes):
    accuracy = {"l1": dict(zip(("0.05", "0.02", "0.01", "0.005"), shares, strict=True))}
    values = {"task": "add", "seed": 0, "split": "test", "well_formed": 1.0, "interval": {}, "malformed": {}}
    values |= {"distance_accuracy": {}, "by_dimension": {}, "by_task": {}, "loss": 2.0, "seconds": 1.0} | changes
    return Report(num=num, accuracy=accuracy, **values)


def result(shares=(0.9, 0.5, 0.1, 0.0), **changes):
    """Of a run, as it is written."""
    config = changes.pop("config", fast("add", "2", "1/1", 100))
    values = {"steps": 10, "examples": 100, "seconds": 60.0, "parameters": 5, "flops_per_example": 1e6}
    values |= {"provenance": {}, "curve": CURVE} | changes
    return Result(config=config, report=report(shares), **values)


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
    assert lookup(result(), path) == value


def test_a_measure_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"report/accuracy/l3: nothing at 'l3'"):
        lookup(result(), "report/accuracy/l3")


def test_configs_in_a_line():
    config = paper("add", "20", "1/6", "fp15/p1000", 1_000, dim_model=64)
    assert (config.data.input_encoding, config.data.output_encoding) == ("fp15", "p1000")
    assert (config.model.encoder_layers, config.model.decoder_layers, config.model.dim_model) == (1, 6, (64,))
    assert config.model.max_positions == 20 * 20 * 3 + 3  # the sum in P1000, its dimensions and the end
    assert paper("add", "5", "1/1", "p1000", 1_000).model.max_positions == 512
    assert fast("add", "5", "1/1", 1_000).train.eval_every == 100


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """One folder for all experiments: what they share is run once."""
    return tmp_path_factory.mktemp("reproduce")


@every_experiment
def test_smoke(experiment, root):
    before = as_markdown(table_of(experiment, "smoke", root))
    left = [
        cell
        for cell in experiment.cells_at("smoke")
        if cell.shows and load_result(experiment, "smoke", cell, root) is None
    ]
    assert ("not run" in before) == bool(left)  # others may have run all that it shares with them
    run_experiment(experiment, "smoke", root)
    assert {step.state for step in plan(experiment, "smoke", root)} == {"done"}
    table = table_of(experiment, "smoke", root)
    assert "not run" not in as_markdown(table)
    assert any(number.text for row in table.rows for number in row)
    if experiment.figure:
        drawn = draw(experiment, "smoke", root)
        assert drawn is not None and drawn.lstrip().startswith(b"<?xml") and b"</svg>" in drawn
        assert not list((root / "results").rglob("*.svg"))
    files = {path: path.stat().st_mtime_ns for path in (root / "results").rglob("*.json")}
    run_experiment(experiment, "smoke", root)
    assert files == {path: path.stat().st_mtime_ns for path in (root / "results").rglob("*.json")}


def test_a_cell_counts_the_examples_of_what_it_started_from(root):
    experiment = EXPERIMENTS["table-25"]
    run_experiment(experiment, "smoke", root)
    children = [cell for cell in experiment.cells_at("smoke") if cell.init]
    assert children
    for cell in children:
        found = load_result(experiment, "smoke", cell, root)
        assert (found.origin.model, found.origin.examples, found.all_examples) == (cell.init, 32, 64)
        assert found.origin.seconds >= 0 and found.origin.flops > 0
        assert (found.report.split, found.report.seed) == ("test", 0)


def released_experiment(**fields):
    cell = Cell("own", fast("add", "2", "1/1", 100), (Shown("row", "column", "report/accuracy/l1/0.05"),), **fields)
    return Experiment("some-experiment", "Some", lambda scale: [cell], has_paper=False)


def test_a_kept_model_without_a_result_is_not_run_and_is_named(tmp_path):
    experiment = released_experiment(released="no-model")
    cell = experiment.cells_at("laptop")[0]
    assert missing_model(cell, tmp_path) == "no-model"
    (step,) = plan(experiment, "laptop", tmp_path)
    assert (step.state, step.examples, step.note) == ("missing", 0, "waits for no-model")
    run_experiment(experiment, "laptop", tmp_path)
    assert "not run" in as_markdown(table_of(experiment, "laptop", tmp_path))
    result().write(tmp_path / "results" / "no-model.json")
    assert missing_model(cell, tmp_path) == ""
    assert plan(experiment, "laptop", tmp_path)[0].state == "done"
    number = table_of(experiment, "laptop", tmp_path).rows[0][1]
    assert number.text == "90.0"
    assert number.interval == pytest.approx((82.56, 94.48), abs=0.01)


def test_what_starts_from_a_missing_model_waits_for_it(tmp_path):
    child = Cell("child", fast("add", "2", "1/1", 100, init="no-model"), ())
    experiment = Experiment("some-experiment", "Some", lambda scale: [child], has_paper=False)
    assert missing_model(child, tmp_path) == "no-model"
    run_experiment(experiment, "laptop", tmp_path)
    assert not (tmp_path / "runs").exists()
    assert [step.state for step in plan(experiment, "laptop", tmp_path)] == ["missing"]


def test_a_run_that_was_begun_goes_on_unless_the_experiment_has_changed(tmp_path):
    tiny = {"dim_model": 8, "heads": 1, "batch_size": 10, "eval_num": 5, "final_num": 5, "workers": 0}
    cell = Cell("own", fast("add", "2", "1/1", 100, **tiny), ())
    experiment, changed = (
        Experiment(
            "some-experiment", "Some", lambda scale, config=config: [replace(cell, config=config)], has_paper=False
        )
        for config in (cell.config, replace_fields(cell.config, soft_width=2.0, examples=200))
    )
    folder = cell_folder(experiment, "laptop", cell, tmp_path)
    Run.create(folder, replace_fields(cell.config, threads=1, precision="fp32"))  # as a run settles them
    assert plan(experiment, "laptop", tmp_path)[0].state == "begun"
    (step,) = plan(changed, "laptop", tmp_path)
    assert (step.state, step.examples) == ("stale", 200)
    said = []
    run_experiment(changed, "laptop", tmp_path, say=said.append)
    assert len(said) == 1 and "begun with another optim.soft_width, train.examples: remove it" in said[0]
    assert not (tmp_path / "results").exists()


def test_what_was_never_reached_says_so(tmp_path):
    shown = (Shown("row", "column", "reached/0.05/0.99"),)
    cell = replace(released_experiment(released="m").cells_at("laptop")[0], shows=shown)
    experiment = Experiment("some-experiment", "Some", lambda scale: [cell], has_paper=False)
    result().write(tmp_path / "results" / "m.json")
    assert table_of(experiment, "laptop", tmp_path).rows[0][1].text == "never"


def test_analyses_wait_for_their_model(tmp_path):
    experiment = EXPERIMENTS["inversion-analysis"]
    run_experiment(experiment, "paper", tmp_path)
    assert not (tmp_path / "results").exists()
    assert plan(experiment, "paper", tmp_path)[0].state == "to do"
    assert "51.5" in as_markdown(table_of(experiment, "paper", tmp_path))


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


def test_analyses_are_of_the_largest_released_matrices_that_are_mostly_right(tmp_path):
    def write(name, dim, share):
        found = result((share, 0, 0, 0), config=fast("inverse", dim, "1/1", 100))
        found.write(tmp_path / "results" / f"{name}.json")

    for name in ("inverse-2", "inverse-3", "inverse-4", "inverse-5"):
        write(name, name[-1], 0.4)
    write("inverse-2", "2", 0.9)
    assert best_released("inverse", tmp_path) == Path("inverse-2")
    write("inverse-3", "2-3", 0.6)
    write("no-such-model", "9", 0.99)  # has a result, and no weights
    assert best_released("inverse", tmp_path) == Path("inverse-3")
    write("inverse-5", "5", 0.7)
    assert best_released("inverse", tmp_path) == Path("inverse-5")


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["reproduce", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_cli_lists_how_many_of_the_papers_numbers_are_measured(call):
    code, out, _ = call("table-9", "table-29", "table-19", "--list")
    assert code == 0
    lines = [line.split()[:2] for line in out.splitlines()[1:-2]]
    measured = {
        name: counts(table_of(EXPERIMENTS[name], "laptop", Path())) for name in ("table-9", "table-29", "table-19")
    }
    assert lines == [[name, "{}/{}".format(*both)] for name, both in measured.items()]
    assert [whole for _, whole in measured.values()] == [24, 15, 126]
    assert "--dry-run" in out


def test_cli_plans_without_running(call, tmp_path):
    code, out, _ = call("table-22", "--dry-run")
    assert code == 0
    assert "lstm-p1000-1024-4" in out and "left: 800,000 examples" in out
    assert list(tmp_path.iterdir()) == []


def test_cli_shows_without_writing(call, tmp_path):
    for name in ("table-6", "figure-1", "figure-3"):
        code, out, _ = call(name, "--show")
        assert code == 0 and "|" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("table-6", "--show"), ("--list",)])
def test_what_is_only_shown_needs_no_torch(arguments):
    code = (
        "import sys; from learnalg.cli import main; "
        f"main(['reproduce', *{arguments}]); print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"


def test_cli_runs_chosen_cells_only(call, tmp_path):
    code, out, _ = call("table-26", "--scale", "smoke", "--cells", "efi", "--quiet")
    assert code == 0 and "not run (100)" in out
    assert [path.stem for path in (tmp_path / "results/table-26/smoke").iterdir()] == ["efi"]


def test_cli_names_a_run_that_was_begun_under_another_experiment_and_goes_on(call, tmp_path):
    experiment = EXPERIMENTS["table-26"]
    first, *others = (cell for cell in experiment.cells_at("smoke") if cell.shows)
    Run.create(cell_folder(experiment, "smoke", first, tmp_path), replace_fields(first.config, seed=7))
    code, out, _ = call("table-26", "--scale", "smoke", "--quiet")
    assert (
        code == 0 and f"{first.key}: not run, runs/table-26/smoke/{first.key} was begun with another train.seed" in out
    )
    done = {path.stem for path in (tmp_path / "results/table-26/smoke").iterdir()}
    assert others and {cell.key for cell in others} <= done and first.key not in done


def test_a_missing_model_is_named(tmp_path):
    said = []
    run_experiment(released_experiment(released="no-model"), "laptop", tmp_path, say=said.append)
    assert said == ["own: not run, the released model no-model has no result in results/no-model.json"]


def test_cli_computes_once(call, tmp_path):
    for _ in range(2):
        code, out, _ = call("table-1", "--scale", "smoke")
        assert code == 0 and "[+, 314, E-2] ([+, 314, E-2])" in out
    assert [path.name for path in (tmp_path / "results/table-1/smoke").iterdir()] == ["table-1.json"]


def test_results_of_the_package_are_shown_anywhere_and_own_ones_come_first(call, tmp_path):
    assert "98.0 (88.5)" in call("table-6", "--show")[1]
    found = result((0.25, 0.2, 0.1, 0.015))
    found.write(tmp_path / "results" / "eigenvalues-5.json")
    assert "1.5 (88.5)" in call("table-6", "--show")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table-30",), "unknown experiment 'table-30': did you mean"),
        ((), "which table or figure?"),
        (("table-6", "--cells", "nothing-like-it"), "no cell of table-6 has nothing-like-it"),
        (
            ("ablation", "--cells", "inverse-4x4-withuot-loops-1"),
            "has inverse-4x4-withuot-loops-1 in its name; closest of",
        ),
    ],
)
def test_cli_refuses_unknown_names(call, arguments, message):
    code, _, err = call(*arguments)
    assert code == 2 and message in err


def test_a_whole_name_picks_that_cell_alone():
    keys = [cell.key for cell in choose(EXPERIMENTS["table-2"], "laptop", ("b1999-5-15",))]
    assert keys == ["b1999-5-15"]
    part = [cell.key for cell in choose(EXPERIMENTS["table-2"], "laptop", ("5-15",))]
    assert part == ["b1999-5-15", "b1999-5-15x5-15"]


def test_a_chosen_cell_comes_with_what_it_starts_from():
    keys = [cell.key for cell in choose(EXPERIMENTS["table-25"], "paper", ("p10-5-6",))]
    assert keys == ["p10-5-6-6", "p10-5-6"]
