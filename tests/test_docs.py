"""Documentation names what exists: links, files, commands and flags."""

import contextlib
import io
import re
from functools import cache
from pathlib import Path

import pytest

from learnalg.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
# The log and the changelog speak of the past.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "log.md"),
]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
HISTORY = "at commit `"  # what follows in the paragraph is no file of today


@every_page
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert not [link for link in links if not (page.parent / link).is_file()]  # a folder is no page of the manual


def test_pictures_are_small_and_shown():
    shown = {name for page in PAGES for name in re.findall(r"images/([\w-]+\.png)\)", page.read_text())}
    pictures = {path.name: path.stat().st_size for path in (ROOT / "docs/images").iterdir()}
    assert shown == set(pictures) and max(pictures.values()) <= 150_000


@every_page
def test_files_in_backticks_exist(page):
    text = "\n\n".join(part for part in page.read_text().split("\n\n") if HISTORY not in part)
    named = re.findall(r"`([\w.-]+/[\w./-]*)`", text)
    places = (ROOT, ROOT / "src/learnalg", ROOT / "src/learnalg/reproduction")
    made = ("build/", "report/", "runs/")  # by commands
    missing = [n for n in named if not n.startswith(made) and not any((place / n).exists() for place in places)]
    assert not missing


@cache
def help_of(command):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([command, "--help"])
    return said.getvalue()


def commands_in(text):
    """Of all code: what follows `learnalg`, with lines that end in a backslash joined."""
    code = re.findall(r"^    (.*)$", text, re.MULTILINE) + re.findall(r"`([^`]+)`", text)
    return [found[1] for line in code if (found := re.search(r"(?:^|\$ |-m )learnalg ((?:[a-z]|--help).*)", line))]


@every_page
def test_commands_and_their_flags_exist(page):
    for command in commands_in(page.read_text()):
        name, *arguments = command.partition("#")[0].split()
        if name in ("COMMAND", "--help"):
            continue
        assert name in COMMANDS, command
        for flag in (argument for argument in arguments if argument.startswith("--")):
            assert flag in (*re.findall(r"--[\w-]+", help_of(name)), "--help", "--plugin"), command


@every_page
def test_flags_alone_exist(page):
    """`--flag value` in a table or a sentence is a flag of some command."""
    known = {flag for name in COMMANDS for flag in re.findall(r"--[\w-]+", help_of(name))} | {"--help", "--plugin"}
    flags = {
        flag for code in re.findall(r"`(--[^`]+)`", page.read_text()) for flag in re.findall(r"(?<!\S)--[\w-]+", code)
    }
    assert flags <= known | {"--nproc-per-node", "--task-options"}
