"""The answer about a library's history as JSON has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abistore.report.site.timeline import History, fold


def history_document(histories: Sequence[History]) -> dict[str, Any]:
    """The timelines; those of several lines with one verdict for each version over all of them."""
    folded = fold(histories)
    return {"histories": tuple(histories)} | ({"folded": folded} if folded else {})
