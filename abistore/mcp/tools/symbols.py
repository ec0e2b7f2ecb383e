"""``abi_symbol_history``: the life of one declaration."""

from __future__ import annotations

from typing import Annotated

import msgspec

from abistore.interface import LogEntry
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.call import Call
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Cursor, Library, Limit, described
from abistore.model.words.counting import counted

BUDGET, LONG = 600, 240


class LogItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One release in which a declaration appeared, changed, vanished, or could not be observed."""

    library: str
    version: str
    date: str
    action: str
    evidence: str
    symbol: str
    before: str = ""
    after: str = ""
    first_stored: bool = False
    alias_of: str = ""


class SymbolAnswer(Answer, frozen=True, kw_only=True):
    """A page of what became of a declaration, oldest first."""

    events: tuple[LogItem, ...]
    total: int
    returned: int
    next_cursor: str | None = None
    next: tuple[str, ...] = ()


@tool()
def abi_symbol_history(
    call: Call,
    *,
    symbol: Annotated[str, described("As in the source (geo::Point), or mangled")],
    library: Library | None = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> SymbolAnswer:
    """Tell in which releases a function, variable or type appeared, changed or vanished, with its text then.

    Answers "which release removed X". not-observed means unknown.
    """
    with call.store() as store:
        entries = store.log(symbol, library=library)
    items = [_item(entry) for entry in entries]
    page = call.page(items, budget=BUDGET)
    last = entries[-1]
    told = f"{counted(len(items), 'event')}; last: {last.action} in {last.line.library} {last.version}"
    library = entries[0].line.library
    return SymbolAnswer(
        headline=f"{brief(last.display, 120)}: {told}",
        events=page.items,
        total=len(items),
        returned=len(page.items),
        next_cursor=page.next_cursor,
        next=(asking("abi_summary", library=library, version=last.version, against="prev"),),
    )


def _item(entry: LogEntry) -> LogItem:
    return LogItem(
        library=entry.line.library,
        version=entry.version,
        date=f"{entry.date:%Y-%m-%d}",
        action=entry.action,
        evidence=entry.facet,
        symbol=brief(entry.display, LONG),
        before=brief("\n".join(entry.before), LONG),
        after=brief("\n".join(entry.after), LONG),
        first_stored=entry.first_stored,
        alias_of=entry.alias_of or "",
    )
