"""A comparison as text for people and machines."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from abistore.errors import UsageError
from abistore.model.characters import json_text, visible

if TYPE_CHECKING:
    from abistore.report.outline import Report
    from abistore.report.style import Style

SUPPORT = frozenset(
    {
        "case",
        "declared",
        "difference",
        "documentation",
        "drawing",
        "heading",
        "legible",
        "modes",
        "outline",
        "plain",
        "style",
        "text_modes",
        "wording",
    }
)
"""The modules of this package that are not formats."""

STRUCTURED = frozenset({"json", "sarif"})
"""The formats that are JSON, which has escapes of its own."""

MODAL = ("markdown", "text")
"""The formats that know modes: they are lines for people."""


def formats() -> tuple[str, ...]:
    """The names of all report formats: each is a module here with ``render(report, style) -> str``."""
    return tuple(sorted(module.name for module in iter_modules(__path__) if module.name not in SUPPORT))


def render(report: Report, format: str, style: Style) -> str:
    """The report in one of :func:`formats`, in which nothing but its own colours and commands acts on who reads it.

    Raises :class:`UsageError`, and :class:`LimitExceeded` of endless ones.
    """
    last = json_text if format in STRUCTURED else visible
    return last(draft(report, format, style))


def draft(report: Report, format: str, style: Style) -> str:
    """The same before its last step, for a text that goes on."""
    if format not in formats():
        raise UsageError(f"no report format is called {format}", f"one of: {', '.join(formats())}")
    if style.mode != "full" and format not in MODAL:
        raise UsageError(f"mode {style.mode} is not for {format}", f"it is for {' and '.join(MODAL)}")
    from abistore.limits import limits_for
    from abistore.report.legible import legible

    changes = len(report.changes) + len(report.suppressed) + len(report.declarations)
    module = import_module(f"{__name__}.{format}")
    with limits_for(changes << 10, f"writing the report as {format}"):
        text: str = module.render(report if format == "json" else legible(report), style)
    return text
