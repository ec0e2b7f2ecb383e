"""What is behind the exports of a DLL that have a number and no name, told by whatever evidence there is."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.diffing.judge.successive import JudgedAgainst
from abistore.diffing.reuse import differing
from abistore.diffing.side import SideFacts
from abistore.model.declarations import SELF, Declared, Name
from abistore.model.shapes import AnyShape, Function, Library, PeSymbol, Symbol, TypeRef
from abistore.model.snapshot import Evidence, Snapshot, Target
from tests.diffing.model import DOUBLE, INT, function

pytestmark = pytest.mark.fast

X64, X86 = Target("pe", "x86_64", 64, "little"), Target("pe", "i386", 32, "little")


def number(
    ordinal: int, *, symbols: tuple[str, ...] = (), name: str = "", takes: TypeRef = INT, leads_to: str | None = None
) -> dict[str, dict[Name, AnyShape]]:
    """An export by number, with what the symbol table and debug information tell of it."""
    facts = PeSymbol(behind=symbols) if symbols else None
    found: dict[str, dict[Name, AnyShape]] = {
        "symbol": {function(f"#{ordinal}"): Symbol("function", ordinal=ordinal, forwarded_to=leads_to, pe=facts)}
    }
    return found | ({"layout": {function(f"#{ordinal}"): Function(name, INT, (takes,))}} if name else {})


def named(name: str, ordinal: int | None = None, takes: TypeRef = INT) -> dict[str, dict[Name, AnyShape]]:
    """A named export."""
    return {
        "symbol": {function(name): Symbol("function", ordinal=ordinal)},
        "layout": {function(name): Function(name, INT, (takes,))},
    }


def dll(*exports: dict[str, dict[Name, AnyShape]], target: Target = X64, declaring: tuple[str, ...] = ()) -> Snapshot:
    entries: dict[str, dict[Name, tuple[AnyShape, ...]]] = {"symbol": {SELF: (Library("shared", "case.dll"),)}}
    for each in exports:
        for facet, held in each.items():
            entries.setdefault(facet, {}).update({name: (shape,) for name, shape in held.items()})
    if declaring:
        entries["source"] = {function(name): (Declared(), Function(name, INT, (INT,))) for name in declaring}
    evidence = tuple(Evidence(facet, "full") for facet in ("symbol", "layout", "source") if facet in entries)
    return Snapshot("case", None, target, entries, evidence)  # type: ignore[arg-type]  # facets by their names


def kinds(old: Snapshot, new: Snapshot) -> set[str]:
    return {each.kind for each in compare(old, new).findings}


SWAPPED = {
    "the symbol table tells": (
        dll(number(1, symbols=("open",)), number(2, symbols=("read",))),
        dll(number(1, symbols=("read",)), number(2, symbols=("open",))),
    ),
    "debug information tells": (
        dll(number(1, name="open"), number(2, name="read")),
        dll(number(1, name="read"), number(2, name="open")),
    ),
    "the one tells of the old side, the other of the new one": (
        dll(number(1, symbols=("_ZN3geo4openEv",))),
        dll(number(1, name="geo::read")),
    ),
    "a forwarder and the symbol table tell": (
        dll(number(1, leads_to="OTHER.open")),
        dll(number(1, symbols=("read",))),
    ),
    "both have names now": (
        dll(number(1, name="open"), number(2, name="read")),
        dll(named("open", 2), named("read", 1)),
    ),
    "the linker numbers the names": (
        dll(number(1, name="second"), number(2, name="first")),
        dll(named("first"), named("second")),
    ),
    "overloads, by their symbols": (
        dll(number(1, symbols=("_Z4openi",))),
        dll(number(1, symbols=("_Z4opend",))),
    ),
}

KEPT = {
    "the symbol table tells of both": (dll(number(1, symbols=("open",))), dll(number(1, symbols=("open",)))),
    "another name for the same place came": (
        dll(number(1, symbols=("open",))),
        dll(number(1, symbols=("open", "open64"))),
    ),
    "a release that was stored without symbols, and debug information": (
        dll(number(1, name="open")),
        dll(number(1, symbols=("open",), name="open")),
    ),
    "32 bits, where the definition file leaves out the size of the parameters": (
        dll(number(1, symbols=("open@8",)), target=X86),
        dll(number(1, symbols=("open",)), target=X86),
    ),
    "it got its name, by which the linker numbers": (dll(number(1, name="open")), dll(named("open"))),
    "it got two names": (
        dll(number(7, symbols=("open",))),
        dll(named("open", 7), named("open64", 7)),
    ),
    "what was behind a forwarder is here now": (
        dll(number(1, leads_to="OTHER.open")),
        dll(number(1, symbols=("open",))),
    ),
}


@pytest.mark.parametrize("why", SWAPPED)
def test_something_else_behind_a_number_is_a_break(why: str) -> None:
    assert "pe_ordinal_retargeted" in kinds(*SWAPPED[why])


@pytest.mark.parametrize("why", KEPT)
def test_the_same_behind_a_number_is_none(why: str) -> None:
    assert not kinds(*KEPT[why]) & {"pe_ordinal_retargeted", "func_removed"}


def test_headers_that_declare_the_names_leave_it_a_break() -> None:
    declared = ("open", "read")
    old = dll(number(1, name="open"), number(2, name="read"), declaring=declared)
    new = dll(number(1, name="read"), number(2, name="open"), declaring=declared)
    assert "pe_ordinal_retargeted" in kinds(old, new)
    assert compare(old, dll(number(1, name="open", takes=DOUBLE), declaring=declared)).verdict.name == "BREAKING"


def test_what_has_a_name_now_is_compared_with_what_its_number_took() -> None:
    assert "func_params_changed" in kinds(dll(number(3, name="open")), dll(named("open", 3, DOUBLE)))


def test_a_number_that_is_gone_is_a_removed_export_although_the_name_came() -> None:
    assert "func_removed" in kinds(dll(number(1, name="open")), dll(named("open", 2)))


def test_nothing_known_of_a_number_is_said() -> None:
    (told,) = (each for each in compare(*[dll(number(1), number(2, name="b"))] * 2).not_checked if each.names)
    assert (told.reason, told.side, told.names) == ("number-not-described", "both", (function("#1"),))


def test_forwarders_by_number_are_compared_as_they_are_written() -> None:
    old, new = dll(number(1, leads_to="OTHER.#3")), dll(number(1, leads_to="OTHER.#4"))
    assert kinds(old, new) >= {"pe_forwarder_changed"}
    assert not any(each.reason == "number-not-described" for each in compare(old, new).not_checked)


def test_one_release_after_the_other_gives_what_a_comparison_gives() -> None:
    old, last = dll(number(1, name="open"), number(2, name="read")), None
    against = JudgedAgainst(SideFacts(old))
    for new in (
        dll(number(1, name="open"), number(2, name="read"), named("more")),
        dll(number(1, name="read"), number(2, name="open")),
        dll(named("open"), named("read")),
        dll(named("open", 2), named("read", 1)),
        dll(number(1, name="open"), number(2, name="write")),
    ):
        names = {name for snapshot in (last or new, new) for held in snapshot.entries.values() for name in held}
        judged = against.judge(SideFacts(new), names, differing(old, new))
        alone = compare(old, new)
        assert (judged.findings, judged.not_checked) == (alone.findings, alone.not_checked)
        last = new
