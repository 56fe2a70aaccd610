"""HTML and SVG as strings. What `element` is given as content is markup; text goes through `escape` first."""

from __future__ import annotations

from html import escape

__all__ = ["DASH", "element", "escape", "link", "scrolling"]


DASH = "\N{EN DASH}"


def element(name: str, content: str = "", **attributes: str | int) -> str:
    """`class_` and `data_x` become class and data-x; an attribute that is '' is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{content}</{name}>"


def link(identifier: str, content: str, **attributes: str | int) -> str:
    """Within the page."""
    return element("a", content, href=f"#{identifier}", **attributes)


def scrolling(content: str, label: str) -> str:
    """A box of its own for what may be wider than a phone; the tab key reaches it, arrow keys move it."""
    return element("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)
