"""What the body of a tool may use during one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from abistore.interface import OpenStore, locate, open_store
from abistore.mcp.answers.pages import Page, page
from abistore.mcp.answers.units import encoded
from abistore.mcp.questions import Question
from abistore.mcp.refusals import write_disabled
from abistore.mcp.settings import Settings

T = TypeVar("T")
PAGING = frozenset({"cursor", "limit"})
"""The arguments that choose a page of an answer, and not the answer."""


class Call:
    """One call of a tool, in the process that works on it.

    ``kept`` is the report of the comparison that the arguments name, where the server has it; the body sets ``keep`` to
    have one kept, under its id, for later calls. ``actor`` is who asks, for the audit of what is written;
    ``decided`` the question that a person has decided.
    """

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        settings: Settings,
        *,
        kept: bytes | None = None,
        actor: str = "",
        decided: Question | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.settings = settings
        self.kept = kept
        self.actor = actor
        self.decided = decided
        self.progress = progress
        self.keep: tuple[str, bytes] | None = None
        self._store: OpenStore | None = None

    @contextmanager
    def store(self) -> Iterator[OpenStore]:
        """The store, to which nothing is written; within another ``with``, that one. Raises :class:`StoreError`."""
        if self._store is not None:
            yield self._store
            return
        with open_store(self.settings.database, read_only=True) as self._store:
            try:
                yield self._store
            finally:
                self._store = None

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[OpenStore]:
        """The store, to be written to. It is never upgraded. Raises :class:`StoreError`, :class:`Refusal`."""
        if not self.settings.allow_write:
            raise write_disabled(self.tool)
        with open_store(self.settings.database, create=create and self.has_no_store) as store:
            yield store

    @property
    def has_no_store(self) -> bool:
        """Whether the database is a file that does not exist yet."""
        where = locate(self.settings.database)
        return "://" not in where and not Path(where).exists()

    def page(self, items: Sequence[T], *, budget: int) -> Page[T]:
        """The page that the arguments ``cursor`` and ``limit`` ask for, of at most ``budget`` units."""
        cursor, limit = self.arguments.get("cursor"), self.arguments.get("limit") or len(items)
        budget = min(budget, self.settings.max_response_units)
        return page(items, cursor, limit, question=self._question, budget=budget)

    @property
    def _question(self) -> str:
        asked = sorted((name, value) for name, value in self.arguments.items() if name not in PAGING)
        return blake2b(encoded((self.tool, asked)), digest_size=4).hexdigest()
