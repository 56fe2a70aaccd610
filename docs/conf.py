"""The manual: `make manual` builds these pages, and those that they link to, into build/manual.

Sphinx reads the repository from its root, so a link between two Markdown pages is the same on a code host and in the
manual. What a code host cannot show is added while a page is read: tables of contents, and the API from docstrings. So
the pages are plain Markdown. Only those in docs/notebooks have code cells, which run when the manual is built.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

# The sidebar, in the order of reading.
CONTENTS = {
    "Begin": [
        "docs/first-steps",
        "docs/notebooks/train-your-first-model",
        "docs/notebooks/why-does-it-fail",
        "docs/how-a-run-works",
    ],
    "Use": [
        "docs/problems",
        "docs/encodings",
        "docs/ensembles",
        "docs/training",
        "docs/cluster",
        "docs/faults",
        "docs/sweep",
        "docs/scaling",
        "docs/networks",
        "docs/evaluation",
        "docs/page",
    ],
    "Released models": [
        "docs/zoo",
        "docs/linalg",
        "docs/exchange",
    ],
    "The paper": [
        "docs/reproduction",
        "docs/speedrun",
        "docs/ablation",
    ],
    "Extend": [
        "docs/extending",
        "docs/api",
        "CONTRIBUTING",
    ],
    "Look up": [
        "docs/glossary",
        "docs/decisions/README",
        "docs/log",
        "CHANGELOG",
        "README",
    ],
}
BELOW = {  # pages under another page: a folder's, in order
    "docs/zoo": "src/learnalg/zoo/*",
    "docs/decisions/README": "docs/decisions/0*",
    "docs/reproduction": "results/analyses/*/*",
}
API = {  # heading -> modules
    "Models: load, solve, evaluate": ["zoo.model", "zoo.index", "zoo.catalog"],
    "NumPy's functions": ["linalg"],
    "Problems": ["problems", "problems.task", "problems.ensembles", "problems.dims", "problem"],
    "Tokens": ["tokens", "tokens.encoding", "tokens.tokenizer"],
    "Configs": ["config", "config.data", "config.model", "config.training", "config.presets", "recipes"],
    "Training": ["training.loop", "training.optim"],
    "Results": ["evaluation.result", "evaluation.evaluate"],
}

project = html_title = "learnalg"
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
language = "en"
root_doc = "docs/index"
include_patterns = [
    *("docs/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/learnalg/zoo/*.md", "results/analyses/*/*.md"),
]
exclude_patterns = ["build", ".venv", "runs", "docs/*.py"]
extensions = ["myst_nb", "sphinx.ext.autodoc"]
highlight_language = "text"  # of indented blocks: commands and what they print

myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 600  # a cell; they take half a minute where nothing else runs
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_in_temp = True

autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Ints", "Bools", "Shares", "Curve")}
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_static_path, html_css_files = ["static"], ["manual.css"]
html_copy_source = html_show_sourcelink = html_show_copyright = html_show_sphinx = False
html_domain_indices = html_use_index = False


def setup(app: Any) -> None:
    app.connect("source-read", add_what_markdown_lacks)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("build-finished", write_front_page)


def add_what_markdown_lacks(app: Any, page: str, source: list[str]) -> None:
    if page == root_doc:
        source[0] += "".join(contents(pages, caption) for caption, pages in CONTENTS.items())
    elif page in BELOW:
        source[0] += contents([BELOW[page]])
    elif page == "docs/api":
        parts = (f"\n## {heading}\n" + "".join(map(automodule, modules)) for heading, modules in API.items())
        source[0] += "".join(parts)


def contents(pages: list[str], caption: str = "") -> str:
    titled = f":caption: {caption}\n" if caption else ""
    listed = "\n".join(f"/{page}" for page in pages)
    return f"\n\n```{{toctree}}\n:hidden:\n:glob:\n{titled}\n{listed}\n```\n"


def automodule(module: str) -> str:
    options = "".join(f"   :{name}:\n" for name in ("members", "undoc-members", "ignore-module-all"))
    return f"\n### learnalg.{module}\n\n```{{eval-rst}}\n.. automodule:: learnalg.{module}\n{options}```\n"


def read_docstring(app: Any, what: str, name: str, entity: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with `code` and indented examples; autodoc expects reStructuredText. The comment behind
    a dataclass's field is its docstring."""
    if what == "attribute":
        lines[:] = [inline(comment_of(name))]
    elif dataclasses.is_dataclass(entity) and lines and lines[0].startswith(f"{entity.__name__}("):
        lines.clear()  # what dataclasses write where there is no docstring
    else:
        paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
        lines[:] = [line for paragraph in paragraphs if paragraph for line in as_rst(paragraph)]


def comment_of(name: str) -> str:
    """Of 'learnalg.config.data.DataConfig.dim'."""
    module, kind, field = name.rsplit(".", 2)
    owner = getattr(sys.modules.get(module), kind, None)
    found = re.search(rf"^    {field}: .*?  # (.*)$", inspect.getsource(owner) if owner else "", re.MULTILINE)
    return found[1] if found else ""


def as_rst(paragraph: str) -> list[str]:
    rows = paragraph.split("\n")
    if rows[0].lstrip().startswith((">>>", "$")) or all(row.startswith("    ") for row in rows):
        language = "pycon" if rows[0].lstrip().startswith(">>>") else "text"
        return [f".. code-block:: {language}", "", *(f"   {row}" for row in rows), ""]
    if any("   " in row.strip() for row in rows):  # set in columns
        return [".. code-block:: text", "", *(f"   {row}" for row in rows), ""]
    return [inline(" ".join(row.strip() for row in rows)), ""]


def inline(text: str) -> str:
    """`code` stays code; what else means something in reStructuredText is meant as it is."""
    parts = text.split("`")
    return "".join(f"``{part}``" if k % 2 else re.sub(r"([*_|\\])", r"\\\1", part) for k, part in enumerate(parts))


def write_front_page(app: Any, error: Exception | None) -> None:
    """build/manual/index.html leads to the first page, whose place is docs/ as in the repository."""
    if error is None and app.builder.name == "html":
        page = f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html">'
        (Path(app.outdir) / "index.html").write_text(f'{page}<a href="{root_doc}.html">The manual</a>\n')
