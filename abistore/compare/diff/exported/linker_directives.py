"""What a dylib tells the linker for single systems: ``$ld$hide$os10.15$_open`` hides an export from their programs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from abistore.compare.context import Context
from abistore.compare.side import SideFacts

LINKED = ADD, HIDE = "add", "hide"
"""The directives that say whether programs for a system link to a symbol, whatever the exports are."""

ONE_FOR_A_SYSTEM = ("install_name", "compatibility_version")


class Directive(msgspec.Struct, frozen=True, order=True):
    """One directive; ``system`` is the one that programs are built for, empty where ``value`` says it."""

    action: str
    system: str
    value: str


def directives_of(side: SideFacts) -> tuple[Directive, ...] | None:
    """The directives of one side, sorted; ``None`` where they were not read."""
    told = side.library.on_macho.directives if side.library else None
    return tuple(sorted(map(_parsed, told))) if told is not None else None


def _parsed(text: str) -> Directive:
    """``$ld$previous`` tells its systems behind the library that programs record."""
    action, _, rest = text.removeprefix("$ld$").partition("$")
    system, _, value = rest.partition("$") if action != "previous" else ("", "", rest)
    return Directive(action, system, value)


def differently_linked(context: Context, *, lost: bool) -> Iterator[tuple[str, str]]:
    """The symbols that programs for a system could link to and no longer can, with the system; or the reverse.

    What is no longer exported at all, or is new, has findings of its own.
    """
    old, new = (directives_of(side) for side in (context.old, context.new))
    if old is None or new is None:
        return
    told, tells = (_about_symbols(each) for each in (old, new))
    for key in sorted(told.keys() | tells.keys()):
        system, symbol = key
        exported, exports = (symbol in side.exports.names for side in (context.old, context.new))
        links = _links(told.get(key, ()), exported), _links(tells.get(key, ()), exports)
        if links == (lost, not lost) and exported == exports:
            yield system, symbol


def _about_symbols(directives: Iterable[Directive]) -> Mapping[tuple[str, str], Collection[str]]:
    """What is said of whether programs for a system link to a symbol."""
    found: dict[tuple[str, str], set[str]] = {}
    for each in directives:
        if each.action in LINKED:
            found.setdefault((each.system, each.value.removeprefix("_")), set()).add(each.action)
    return found


def _links(actions: Collection[str], exported: bool) -> bool:
    return HIDE not in actions and (ADD in actions or exported)


def recorded_differently(context: Context) -> Iterator[tuple[str | None, str | None]]:
    """The other directives that one side alone has: they say what programs record of the library and its symbols."""
    old, new = (directives_of(side) for side in (context.old, context.new))
    if old is None or new is None:
        return
    before, after = ({each for each in told if each.action not in LINKED} for told in (old, new))
    gone, come = before - after, after - before
    heirs = {(each.action, each.system): each for each in come if each.action in ONE_FOR_A_SYSTEM}
    for each in sorted(gone):
        heir = heirs.get((each.action, each.system))
        come.discard(heir or each)
        yield _spelled(each), _spelled(heir) if heir else None
    yield from ((None, _spelled(each)) for each in sorted(come))


def _spelled(directive: Directive) -> str:
    return "$".join(filter(None, ("$ld", directive.action, directive.system, directive.value)))
