"""Classes of other libraries, as headers show them that public headers include."""

from __future__ import annotations

import pytest
from msgspec.structs import force_setattr

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import SELF, Declared, Name
from abistore.model.shapes import Function, Import, Library, Method, Named, Record, Symbol, VirtualMethod
from abistore.model.snapshot import Evidence, Snapshot
from tests.diffing.model import CODE, TARGET, VOID, function, record, struct, to

ENGINE = record("port::Engine")
START = VirtualMethod("start", "_ZN4port6Engine5startEv", 0, VOID)
STOP = VirtualMethod("stop", "_ZN4port6Engine4stopEv", 1, VOID)
VTABLE = "_ZTVN4port6EngineE"


def library(
    *virtuals: VirtualMethod,
    imported: str = STOP.symbol,
    weak: bool = False,
    needed: str = "libport.so.1",
    exported: Symbol | None = None,
) -> Snapshot:
    """A library with a header that takes pointers to a class, which that header includes or defines."""
    described = Record("class", 8, virtuals=virtuals, has_vptr=True)
    drive = Function("drive", VOID, (to(ENGINE),))
    entries = {
        "symbol": {
            SELF: (Library("shared", needed=(needed,)),),
            function("drive"): (CODE,),
            Name("import", imported): (Import(weak),),
        },
        "source": {function("drive"): (Declared(), drive), ENGINE: (described,)},
    }
    if exported is not None:
        entries["symbol"][function("_ZN4port6Engine5speedEv")] = (exported,)
    return Snapshot("lib", None, TARGET, entries, (Evidence("symbol", "full"), Evidence("source", "full")))


def kinds(old: Snapshot, new: Snapshot) -> list[str]:
    return [each.kind for each in compare(old, new).findings]


@pytest.mark.parametrize("imported", [STOP.symbol, VTABLE])
def test_a_virtual_function_in_a_class_of_another_library_is_a_risk(imported: str) -> None:
    old, new = library(START, imported=imported), library(STOP, START, imported=imported)
    assert kinds(old, new) == ["type_private_changed.dependency"]


@pytest.mark.parametrize("needed", ["libstdc++.so.6", "libc.so.6", "libc.musl-x86_64.so.1", "ld-linux-x86-64.so.2"])
def test_what_no_other_library_can_define_programs_do(needed: str) -> None:
    old, new = library(START, needed=needed), library(STOP, START, needed=needed)
    assert "type_private_changed.dependency" not in kinds(old, new)


def test_a_class_of_another_library_is_laid_out_in_a_further_one_of_it() -> None:
    """The library exports no member of the class that embeds it, though its header has some."""
    boat = record("port::Boat")
    leave = Function("port::Boat::leave", VOID, (), method=Method(boat))
    old, new = library(START), library(STOP, START)
    for each in (old, new):
        shapes = {boat: (struct(Named(ENGINE)),), function("_ZN4port4Boat5leaveEv"): (Declared(), leave)}
        force_setattr(each, "entries", {**each.entries, "source": {**each.entries["source"], **shapes}})
    assert kinds(old, new) == ["type_private_changed.dependency"]


def test_a_weak_import_tells_of_no_other_library() -> None:
    old, new = library(START, weak=True), library(STOP, START, weak=True)
    assert "type_private_changed.dependency" not in kinds(old, new)


def test_a_weak_copy_of_an_inline_member_makes_no_class_the_librarys_own() -> None:
    copy = Symbol("function", weak=True)
    old, new = library(START, exported=copy), library(STOP, START, exported=copy)
    assert kinds(old, new) == ["type_private_changed.dependency"]


def test_an_export_of_a_member_makes_the_class_the_librarys_own() -> None:
    old, new = library(START, exported=CODE), library(STOP, START, exported=CODE)
    assert "type_private_changed.dependency" not in kinds(old, new)
