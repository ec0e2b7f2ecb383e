"""What the body of a tool may use during one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, TypeVar

from abistore.interface import OpenStore, open_store
from abistore.mcp.answers.pages import Page, page
from abistore.mcp.answers.units import encoded
from abistore.mcp.settings import Settings

T = TypeVar("T")
PAGING = frozenset({"cursor", "limit"})
"""The arguments that choose a page of an answer, and not the answer."""


class Call:
    """One call of a tool, in the process that works on it.

    ``kept`` is the report of the comparison that the arguments name, where the server has it; the body sets ``keep`` to
    have one kept, under its id, for later calls.
    """

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        settings: Settings,
        *,
        kept: bytes | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.settings = settings
        self.kept = kept
        self.progress = progress
        self.keep: tuple[str, bytes] | None = None

    @contextmanager
    def store(self) -> Iterator[OpenStore]:
        """The store, to which nothing is written. Raises :class:`StoreError`."""
        with open_store(self.settings.database, read_only=True) as store:
            yield store

    def page(self, items: Sequence[T], *, budget: int) -> Page[T]:
        """The page that the arguments ``cursor`` and ``limit`` ask for, of at most ``budget`` units."""
        cursor, limit = self.arguments.get("cursor"), self.arguments.get("limit") or len(items)
        budget = min(budget, self.settings.max_response_units)
        return page(items, cursor, limit, question=self._question, budget=budget)

    @property
    def _question(self) -> str:
        asked = sorted((name, value) for name, value in self.arguments.items() if name not in PAGING)
        return blake2b(encoded((self.tool, asked)), digest_size=4).hexdigest()
