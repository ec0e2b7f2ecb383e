"""What the server says on standard error beside the lines about calls."""

from __future__ import annotations

import logging
import sys

from abistore.mcp.settings import LogLevel
from abistore.model.words.characters import visible


class Shown(logging.Formatter):
    """Clients choose what warnings quote: no terminal obeys it."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as lines that do nothing but show."""
        return visible(super().format(record))


def configure(level: LogLevel) -> None:
    """Sets the log up, before the SDK does so in its own way."""
    root = logging.getLogger()
    if not root.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Shown("%(levelname)s: %(name)s: %(message)s"))
        root.addHandler(handler)
    root.setLevel(level.upper())
