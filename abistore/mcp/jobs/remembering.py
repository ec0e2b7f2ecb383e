"""What a process has answered already: the same question about an unchanged store costs one look at the store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from abistore.interface import AbistoreError, AuditRecord, db_audit, open_store
from abistore.mcp.jobs.messages import Request, encode
from abistore.mcp.resources.all import RESOURCES
from abistore.mcp.tools.all import TOOLS
from abistore.process.protocol import Answered, Failed

MOST_BYTES = 8 << 20
UNSTORED = frozenset(
    {"abi_store_stats", "abi_help", "abi_list_changes", "abi_explain_change", "docs", "kind", "schema"}
)
"""What tells something else than the content of the store: how large its files are, what is documented."""


class StoreQuestion(NamedTuple):
    """A request, the last change of the store that it is about, and the day: approvals and suppressions end."""

    request: bytes
    changed: tuple[AuditRecord, ...]
    day: date | None = None


class Answers:
    """The answers that were asked for last, as many as fit into :data:`MOST_BYTES`."""

    def __init__(self) -> None:
        self._kept: OrderedDict[StoreQuestion, Answered | Failed] = OrderedDict()
        self._bytes = 0

    def find(self, question: StoreQuestion) -> Answered | Failed | None:
        """The answer that was given before."""
        found = self._kept.get(question)
        if found is not None:
            self._kept.move_to_end(question)
        return found

    def keep(self, question: StoreQuestion, answer: Answered | Failed) -> None:
        """Keep an answer, and let the oldest go; one that is too long is not kept."""
        if _size(answer) > MOST_BYTES // 4:
            return
        self._kept[question] = answer
        self._bytes += _size(answer)
        while self._bytes > MOST_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= _size(gone)


def question_of(request: Request) -> StoreQuestion | None:
    """What is asked, where nothing but the store can change the answer; nothing where files are named."""
    if not _is_remembered(request.tool) or _names_file(request.arguments.values()):
        return None
    with suppress(AbistoreError), open_store(request.settings.database, read_only=True) as store:
        return StoreQuestion(blake2b(encode(request)).digest(), db_audit(limit=1, database=store), today())
    return None  # the tool says what is wrong with the store


def today() -> date:
    """The day by which approvals and suppressions hold."""
    return datetime.now(UTC).date()


def _is_remembered(name: str) -> bool:
    return name not in UNSTORED and (name in RESOURCES or name in TOOLS)


def _names_file(values: Iterable[Any]) -> bool:
    """Whether a value is a path, or names the library whose headers are at one: ``libfoo=/include/foo``."""
    for value in values:
        if isinstance(value, str) and (value.startswith("/") or "=/" in value):
            return True
        if isinstance(value, list | Mapping) and _names_file(value.values() if isinstance(value, Mapping) else value):
            return True
    return False


def _size(answer: Answered | Failed) -> int:
    return len(answer.message) if isinstance(answer, Failed) else len(answer.data)
