"""``abi_show``: declarations of a release or a file, whole, what differs between two, and lists of what is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.arguments import AddedSince, ShownName
from abistore.interface import (
    DeclarationDifference,
    DeclaredName,
    ExtractOptions,
    InventoryItem,
    OpenStore,
    Selection,
    ShownDeclaration,
    TypeUser,
    declaration_differences,
    declared_like,
    exports,
    lines,
    shown_declarations,
    types,
    who_uses,
)
from abistore.mcp.answers import Answer, NextCall, asking
from abistore.mcp.operands import Call, operand
from abistore.mcp.settings import Refusal
from abistore.mcp.tools.comparing import headers_of_sides
from abistore.mcp.tools.declaration import Cursor, Folders, Headers, Language, Limit, Line, Operand, described, tool
from abistore.model.declarations import EXPORTS, TYPES, Kind
from abistore.model.words import counted

LISTED, SHOWN_USERS = 1_000, 5
"""How many units a list has that sets no bound of its own, and how many users a declaration names."""

What: TypeAlias = Literal["declaration", "exports", "types", "users"]


class ShownItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A declaration: its ``text`` in C or C++ with offsets, or the ``diff`` of two. ``!`` marks a line that moved.

    ``since`` is the release in which it appeared, or the oldest one stored (``first_stored``), ``until`` the first one
    without it. ``used_by`` are exports that use a type; ``how`` such an export does, and ``through`` which types.
    """

    name: str
    kind: str
    symbol: str = ""
    text: str = ""
    diff: str = ""
    state: str = ""
    said: tuple[str, ...] = ()
    evidence: str = ""
    location: str = ""
    since: str = ""
    first_stored: bool = False
    changed: str = ""
    until: str = ""
    symbol_version: str = ""
    used_by: tuple[str, ...] = ()
    used_by_count: int = 0
    how: str = ""
    through: tuple[str, ...] = ()


class ShowAnswer(Answer, frozen=True, kw_only=True):
    """Declarations, each whole, or a page of a list."""

    items: tuple[ShownItem, ...]
    total: int
    returned: int
    next_cursor: str | None = None
    next: tuple[NextCall, ...] = ()


class _Side(NamedTuple):
    """What is shown of: a release or a file, and how to read it."""

    operand: str | Path
    selection: Selection
    store: OpenStore | None


@tool("Show a declaration")
def abi_show(
    call: Call,
    *,
    reference: Operand,
    name: ShownName = None,
    what: Annotated[What, described("users: which exports use the type")] = "declaration",
    against: Annotated[str | None, described("An older side: shows the diff")] = None,
    since: AddedSince = None,
    headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
    line: Line = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> ShowAnswer:
    """Show a declaration of a stored release or a file as C or C++, whole, with offsets; or list what is there.

    Use it for "what changed in X since 1.8?" (against), "which exports use X?", "what is exported?".
    Example: reference="libfoo@1.9.4", name="foo_options", against="libfoo@1.8.0".
    """
    shown = operand(call.settings, reference, "reference")
    other = operand(call.settings, against, "against") if against is not None else None
    named = headers_of_sides(call, {"headers": headers}, include_dirs, language)["headers"]
    target, _, profile = (line or "").partition("/")
    options = ExtractOptions(max_bytes=call.settings.max_file_size, progress=call.progress, headers=named)
    selection = Selection(target or None, profile or None, options)
    if isinstance(shown, Path) and not isinstance(other, str):
        return _answer(call, _Side(shown, selection, None), (name, what, since), other)
    with call.store() as store:
        return _answer(call, _Side(_latest(store, shown), selection, store), (name, what, since), other)


def _latest(store: OpenStore, shown: str | Path) -> str | Path:
    """The latest release of a library that is named without a version."""
    if isinstance(shown, Path) or "@" in shown or not lines(library=shown, database=store):
        return shown
    return f"{shown}@latest"


def _answer(
    call: Call, side: _Side, asked: tuple[str | None, What, str | None], other: str | Path | None
) -> ShowAnswer:
    name, what, since = asked
    if what in {"exports", "types"}:
        return _listed(call, side, "export" if what == "exports" else "type", name or "*", since)
    if name is None:
        raise Refusal("INVALID_ARGUMENT", "name is missing", 'give name, or what="exports" or what="types" for a list')
    if what == "users":
        return _users(call, side, name)
    if other is not None:
        return _differences(call, side, name, other)
    return _matching(call, side, name) if _is_glob(name) else _declarations(call, side, name)


def _is_glob(name: str) -> bool:
    """Whether a name is a pattern, and none of an operator or with the types of its parameters."""
    return any(each in name for each in "*?") and "(" not in name and "operator" not in name


# --- one declaration ----------------------------------------------------------------------------------------------


def _declarations(call: Call, side: _Side, name: str) -> ShowAnswer:
    found = shown_declarations(side.operand, name, database=side.store, selection=side.selection)
    first = found[0]
    since = f", since {first.life.since}" if first.life is not None and not first.life.first_stored else ""
    more = f" and {len(found) - 1} more of this name" if len(found) > 1 else ""
    library = side.operand.partition("@")[0] if isinstance(side.operand, str) and "@" in side.operand else None
    history = asking("abi_symbol_history", "See when it changed.", symbol=first.display, library=library)
    return ShowAnswer(
        headline=f"{first.name.kind} {first.display} of {_told(side.operand)}{since}{more}",
        items=tuple(map(_shown, found)),
        total=len(found),
        returned=len(found),
        next=(history,) if isinstance(side.operand, str) else (),
    )


def _shown(found: ShownDeclaration) -> ShownItem:
    used, life = found.used, found.life
    users = (*used.by_value, *used.by_pointer) if used is not None else ()
    return ShownItem(
        name=found.display,
        kind=found.name.kind,
        symbol=found.name.spelling if found.name.spelling != found.display else "",
        text=found.text,
        evidence=found.facet,
        location=str(found.location).rpartition("/")[2] if found.location else "",
        since=life.since if life else "",
        first_stored=life.first_stored if life else False,
        changed=life.changed if life else "",
        until=life.until if life else "",
        used_by=users[:SHOWN_USERS],
        used_by_count=len(users),
    )


def _differences(call: Call, side: _Side, name: str, other: str | Path) -> ShowAnswer:
    found = declaration_differences(other, side.operand, name, database=side.store, selection=side.selection)
    changed = [each for each in found if each.state != "same"]
    said = f"{changed[0].state}" if changed else "the same"
    return ShowAnswer(
        headline=f"{found[0].display}: {said} from {_told(other)} to {_told(side.operand)}",
        items=tuple(map(_differing, changed or found)),
        total=len(changed or found),
        returned=len(changed or found),
        next=(_compared(call, side.operand, other),),
    )


def _compared(call: Call, new: str | Path, old: str | Path) -> NextCall:
    read = {name: call.arguments.get(name) for name in ("headers", "include_dirs", "language", "line")}
    return asking("abi_compare", "Judge what that breaks.", old_input=str(old), new_input=str(new), **read)


def _differing(found: DeclarationDifference) -> ShownItem:
    return ShownItem(
        name=found.display,
        kind=found.name.kind,
        diff="\n".join(found.lines),
        state=found.state,
        said=found.said,
        evidence=found.facet,
    )


# --- lists --------------------------------------------------------------------------------------------------------


def _matching(call: Call, side: _Side, pattern: str) -> ShowAnswer:
    found = declared_like(side.operand, pattern, database=side.store, selection=side.selection)
    return _page(call, side, [_named(each) for each in found], counted(len(found), "declaration"))


def _named(found: DeclaredName) -> ShownItem:
    symbol = found.name.spelling if found.name.spelling != found.display else ""
    return ShownItem(name=found.display, kind=found.name.kind, symbol=symbol, text=found.text)


def _listed(call: Call, side: _Side, word: Literal["export", "type"], pattern: str, since: str | None) -> ShowAnswer:
    """The exports or the types: of a stored release with their lives."""
    if isinstance(side.operand, Path) or side.store is None:
        if since is not None:
            raise Refusal("INVALID_ARGUMENT", "since is for stored releases", "leave it out, or name a stored release")
        kinds: Sequence[Kind] = EXPORTS if word == "export" else TYPES
        found = declared_like(side.operand, pattern, kinds, database=side.store, selection=side.selection)
        return _page(call, side, [_named(each) for each in found], counted(len(found), word))
    ask = exports if word == "export" else types
    target, profile = side.selection.target, side.selection.profile
    meant = ask(side.operand, pattern, since=since, target=target, profile=profile, database=side.store)
    what = (
        f"{len(meant.items)} of {counted(meant.of, word)}" if len(meant.items) < meant.of else counted(meant.of, word)
    )
    return _page(call, side, [_inventoried(each) for each in meant.items], what)


def _inventoried(found: InventoryItem) -> ShownItem:
    return ShownItem(
        name=found.display,
        kind=found.name.kind,
        symbol=found.name.spelling if found.name.spelling != found.display else "",
        since=found.since,
        first_stored=found.first_stored,
        changed=found.changed if found.changed != found.since else "",
        symbol_version=found.symbol_version or "",
    )


def _page(call: Call, side: _Side, items: Sequence[ShownItem], what: str) -> ShowAnswer:
    page = call.page(items, budget=LISTED, usual=50)
    first = page.items[:1]
    then = [
        asking("abi_show", "Show one whole.", reference=str(side.operand), name=each.symbol or each.name)
        for each in first
    ]
    return ShowAnswer(
        headline=f"{what} of {_told(side.operand)}",
        items=page.items,
        total=len(items),
        returned=len(page.items),
        next_cursor=page.next_cursor,
        next=(*page.more, *then),
    )


def _users(call: Call, side: _Side, name: str) -> ShowAnswer:
    if isinstance(side.operand, Path) or side.store is None:
        found = shown_declarations(side.operand, name, selection=side.selection)
        items = [item for each in found if each.used for item in _used_in_file(each)]
        return _page(call, side, items, f"{counted(len(items), 'export')} that use {name}")
    chosen = side.selection
    used = who_uses(name, reference=side.operand, target=chosen.target, profile=chosen.profile, database=side.store)
    items = [_user(each) for one in used for each in one.users]
    return _page(call, side, items, f"{counted(len(items), 'export')} that use {name}")


def _used_in_file(found: ShownDeclaration) -> list[ShownItem]:
    assert found.used is not None, "types alone are asked for"
    ways = (("by_value", found.used.by_value), ("by_pointer", found.used.by_pointer))
    return [ShownItem(name=each, kind="export", how=how) for how, names in ways for each in names]


def _user(found: TypeUser) -> ShownItem:
    return ShownItem(
        name=found.display,
        kind=found.name.kind,
        symbol=found.name.spelling if found.name.spelling != found.display else "",
        how=found.how,
        through=() if found.directly else found.through,
    )


def _told(operand: str | Path) -> str:
    return operand.name if isinstance(operand, Path) else operand
