"""The style of a report: colour, width, length and mode."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import msgspec

from abistore.model.words.characters import own

CODES = {
    "breaking": "1;31",
    "api_break": "33",
    "risk": "35",
    "compatible": "32",
    "notice": "2",
    "unchecked": "1;33",
    "bold": "1",
    "dim": "2",
    "!": "33",
    "-": "31",
    "+": "32",
}


Mode: TypeAlias = Literal["full", "leaf", "impact", "stat"]
"""How text and Markdown are arranged: by impact and kind (``full``), by declaration (``leaf``), as a table of affected
exports (``impact``), or in one line (``stat``)."""

MODES: tuple[Mode, ...] = get_args(Mode)


class Style(msgspec.Struct, frozen=True):
    """``limit`` is how many changes of one kind are shown (``None``: all); ``width`` is in columns.

    ``docs`` is where the pages about kinds are published: see :func:`abistore.report.documentation.page`.
    ``source_root`` is the folder of the sources in the build: see :mod:`abistore.report.build_paths`.
    """

    colour: bool = False
    width: int = 100
    limit: int | None = 10
    detail: bool = False
    mode: Mode = "full"
    docs: str = ""
    source_root: str = ""

    def paint(self, text: str, tone: str) -> str:
        """``text`` in one of the tones of :data:`CODES`, if colour is wanted."""
        return f"{own(f'[{CODES[tone]}m')}{text}{own('[0m')}" if self.colour else text
