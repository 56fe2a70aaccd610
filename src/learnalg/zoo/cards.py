"""The card of a released model, NAME.md beside its weights, written from its result; and a table of all cards.

>>> print(card("eigenvalues-8", Result.read(Path("results/eigenvalues-8.json"))))
"""

from __future__ import annotations

from collections.abc import Mapping

from learnalg.config import DataConfig, ModelConfig, RunConfig
from learnalg.evaluation.result import Report, Result, percent, quoted
from learnalg.recipes import read_recipe, recipes
from learnalg.zoo.verdict import Refined, Verdict, read_refined, read_verdict


def card(name: str, result: Result) -> str:
    config, report = result.config, result.report
    lines = {
        "Problem": describe_problem(config.data),
        "Network": f"{describe_network(config.model)}; {result.parameters:,} parameters.",
        "Told, unlike the paper's network": "; ".join(hints(config)) + "." if hints(config) else "nothing.",
        "Training": describe_training(result),
        "Recipe": describe_recipe(name, result),
        "Notes": result.note,
        "Test": f"{report.num:,} examples of the {report.split} split (seed {report.seed}), greedy decoding, "
        f"{percent(report.well_formed)} % well-formed. Out of distribution, and at other sizes, accuracy is lower: "
        f"`learnalg evaluate {name} --sigma-factor 2`.",
        "Verdict": describe_verdict(read_verdict(name, result.sha256)),
        "Refined": describe_refined(read_refined(name, result.sha256)),
        "SHA-256": f"`{result.sha256}`. `learnalg verify {name}` checks it and the accuracy.",
        "Uncommitted": result.provenance.get("uncommitted", ""),
    }
    return "\n".join(
        [
            f"# {quoted(name)}",
            "",
            *accuracy_table(report, result.tests),
            "",
            *(f"- **{key}:** {quoted(text)}" for key, text in lines.items() if text),
            "",
        ]
    )


def describe_recipe(name: str, result: Result) -> str:
    """A recipe that starts from other weights is not what the model was trained with."""
    path = recipes().get(name)
    origin = result.origin.model if result.origin else ""
    is_its_own = path is not None and read_recipe(path).train.init == origin
    return f"`src/learnalg/recipes/{name}.toml`." if is_its_own else "none."


def accuracy_table(report: Report, tests: Mapping[str, Report] | None = None) -> list[str]:
    """Lines of Markdown: the model's own test set, and others by name."""
    shares = report.accuracy["l1"]
    tolerances = [t for t in shares if float(t)] + [t for t in shares if not float(t)]
    table = [
        ["tolerance", *(f"{100 * float(t):g} %" if float(t) else "exact" for t in tolerances)],
        ["---"] * (len(tolerances) + 1),
        ["accuracy (L1), %", *(percent(shares[t]) for t in tolerances)],
        *(
            [f"{quoted(size)} alone", *(percent(report.accuracy["l1"][t]) for t in tolerances)]
            for size, report in (tests or {}).items()
        ),
    ]
    return ["| " + " | ".join(row) + " |" for row in table]


def describe_verdict(verdict: Verdict | None) -> str:
    """How far `Solution.trusted` can be believed."""
    if verdict is None:
        return ""
    # Shares that are right, of the trusted right, of the right trusted.
    inside, outside = (tuple(map(percent, verdict.shares(where))) for where in (True, False))
    return (
        f"of the answers that are trusted, {inside[1]} % are right in distribution and {outside[1]} % out of it; of "
        f"the right ones, {inside[2]} and {outside[2]} % are trusted. Right means an error below 5 %; {inside[0]} and "
        f"{outside[0]} % are."
    )


def describe_refined(refined: Refined | None) -> str:
    if refined is None:
        return ""
    return (
        f"{percent(refined.certified / refined.num)} % of {refined.num:,} answers are certified without NumPy, in "
        f"{refined.steps:.1f} steps; a standard start takes {refined.standard_steps:.1f}."
    )


def describe_training(result: Result) -> str:
    train, machine = result.config.train, result.provenance.get("machine", {})
    where = f"{train.threads} of {machine.get('cores', '?')} cores ({machine.get('cpu', 'not known')})"
    minutes = f"{result.seconds / 60:.1f} minutes on {where}"
    origin = f" {describe_origin(result)}" if result.origin else ""
    return f"one run of {result.examples:,} examples (seed {train.seed}), {minutes}.{origin}"


def describe_problem(data: DataConfig) -> str:
    amplitude = " to ".join(f"{a:g}" for a in data.amplitude)
    symmetric = ", symmetric matrices only" if data.symmetric else ""
    return (
        f"{data.task}, dim {data.dim}{symmetric}; matrices {' + '.join(data.ensemble)}, A = {amplitude}; "
        f"encodings {data.input_encoding.upper()} in, {data.output_encoding.upper()} out."
    )


def describe_network(model: ModelConfig) -> str:
    loops = f", the encoder's applied {model.encoder_loops} times" if model.encoder_loops > 1 else ""
    sizes = f"{model.encoder_layers}/{model.decoder_layers} layers{loops}"
    dims, heads = ("/".join(map(str, values)) for values in (model.dim_model, model.heads))
    products = f", {model.products} channels of products" if model.products else ""
    return f"{model.architecture}, {sizes}, {dims} dimensions, {heads} heads{products}"


def hints(config: RunConfig) -> list[str]:
    """What a network is told that the paper's is not: that one sees a sequence of tokens with positions."""
    model = config.model
    told = {
        "the row and the column of each token": {"grid", "operands"} & set(model.positions),
        "which tokens share a row, a column or an operand": model.relations != "none",
        "the numeric value of a token": model.input_embedding != "lookup",
        "which output tokens are neighbours": model.output_embedding != "lookup" or config.optim.soft_width,
        "which tokens may stand at a place of a number": model.output_bias == "slot",
        "that rows may be multiplied with columns": model.products,
        "a symmetric matrix only once, by its upper triangle": config.data.triangle,
    }
    return [text for text, is_told in told.items() if is_told]


def describe_origin(result: Result) -> str:
    """What went into the weights that it started from."""
    origin = result.origin
    assert origin is not None
    part = "the encoder of " if origin.part == "encoder" else ""
    return (
        f"It started from {part}{origin.model}: {result.all_examples:,} examples and "
        f"{result.all_seconds / 60:.0f} minutes in all."
    )


def table_of_cards(results: Mapping[str, Result], folder: str) -> str:
    """A line for each released model; `folder` leads to the cards."""
    head = ["model", "problem", "matrices", "in, out", "network", "parameters", "accuracy at 5 / 2 / 1 / 0.5 %"]
    lines = [head, ["---"] * len(head)]
    for name, result in results.items():
        data, model = result.config.data, result.config.model
        shares = result.report.accuracy["l1"]
        lines.append(
            [
                f"[{name}]({folder}/{name}.md)",
                quoted(f"{data.task.replace('_', ' ')}, {data.dim}"),
                quoted(" + ".join(data.ensemble)) + (", symmetric" if data.symmetric else ""),
                f"{data.input_encoding.upper()}, {data.output_encoding.upper()}",
                f"{model.encoder_layers}/{model.decoder_layers} layers, {model.width('encoder')} dimensions",
                f"{result.parameters:,}",
                " / ".join(percent(shares[t]) for t in ("0.05", "0.02", "0.01", "0.005")),
            ]
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
