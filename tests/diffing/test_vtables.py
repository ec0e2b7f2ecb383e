"""Vtables worked out from debug information hold what the compiler put into them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from abistore.diffing.context import Context
from abistore.diffing.kinds.records import grows_closed
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import TypeSide
from abistore.diffing.types.vtables import VirtualTables, is_destructor
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import Record
from tests.build import build_library

SOURCE = """
struct Empty { virtual void first(); virtual int second() const; };
struct Stream { virtual ~Stream(); virtual int read(char *, int); virtual int close() = 0; int state; };
struct File : Stream { int close() override; virtual int sync(); ~File(); };
struct Log { virtual void write(const char *); virtual void flush(); };
struct LogFile : File, Log { void flush() override; int sync() override; virtual void rotate(); };
struct Shared : virtual Empty { int second() const override; virtual void own(); int data; };
struct Mixed : virtual Stream { int close() override; virtual void own(); };
struct Plain { int number; };
struct Late : Plain, Log { virtual void own(); void write(const char *) override; };
void Empty::first() {}
int Empty::second() const { return 0; }
Stream::~Stream() {}
int Stream::read(char *, int) { return 0; }
int File::close() { return 0; }
int File::sync() { return 0; }
File::~File() {}
void Log::write(const char *) {}
void Log::flush() {}
void LogFile::flush() {}
int LogFile::sync() { return 0; }
void LogFile::rotate() {}
int Shared::second() const { return 1; }
void Shared::own() {}
int Mixed::close() { return 0; }
void Mixed::own() {}
void Late::own() {}
void Late::write(const char *) {}
"""

CLASSES = ("Empty", "Stream", "File", "Log", "LogFile", "Shared", "Mixed", "Late")


def library(compiler: str, source: str = SOURCE) -> Path:
    return build_library(source, language="c++", compiler=compiler, flags=("-g", "-O0"))


def tables(path: Path) -> VirtualTables:
    snapshot = read_snapshot(path, ExtractOptions(library="libcase", layout=True))
    return VirtualTables(TypeSide(snapshot))


def emitted(path: Path) -> dict[str, list[str]]:
    """The symbols in each class's primary vtable from the first function on, by the dynamic linker's relocations."""
    relocations = subprocess.run(["readelf", "-rW", path], check=True, capture_output=True, text=True).stdout
    symbols = subprocess.run(["nm", "-DS", path], check=True, capture_output=True, text=True).stdout
    at = {int(match[1], 16): match[2] for match in re.finditer(r"^(\w+) .* R_X86_64_64 +\w+ (\S+)", relocations, re.M)}
    found = {}
    for match in re.finditer(r"^(\w+) (\w+) \w _ZTV(\S+)$", symbols, re.M):
        start, size = int(match[1], 16), int(match[2], 16)
        entries = [at.get(address, "") for address in range(start, start + size, 8)]
        first = next(index for index, each in enumerate(entries) if each.startswith("_ZTI")) + 1
        found[match[3]] = entries[first:]
    return found


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("name", CLASSES)
def test_slots_hold_what_the_compiler_emitted(compiler: str, name: str) -> None:
    path = library(compiler)
    found = tables(path)
    record = found.side.shape(Name("record", name))
    assert isinstance(record, Record)
    entries = emitted(path)[f"{len(name)}{name}"]
    slots = found.slots(record)
    assert sorted(slots) == list(range(len(slots)))
    for slot, method in slots.items():
        if is_destructor(method):
            assert not entries[slot] or re.search(r"D[012]Ev$", entries[slot])  # an abstract class's is null
        elif not entries[slot].startswith("__cxa_pure_virtual"):
            assert entries[slot] == method.symbol
    following = entries[len(slots)] if len(slots) < len(entries) else ""
    assert not following or following.startswith(("_ZTI", "_ZTh")) or re.search(r"D[012]Ev$", following)


def test_a_class_with_private_constructors_only_is_not_derived_from() -> None:
    source = """
    class Closed { public: virtual void run(); static Closed *get(); private: Closed(); Closed(int); };
    class Open { public: virtual void run(); Open(int); private: Open(); };
    struct Implicit { virtual void run(); };
    Closed::Closed() {}
    Closed::Closed(int) {}
    Closed *Closed::get() { return new Closed; }
    Open::Open() {}
    Open::Open(int) {}
    void Closed::run() {}
    void Open::run() {}
    void Implicit::run() {}
    """
    found = tables(library("g++", source))
    closed, opened, implicit = (Name("record", each) for each in ("Closed", "Open", "Implicit"))
    assert not found.may_be_derived_from(closed)
    assert found.may_be_derived_from(opened)
    assert found.may_be_derived_from(implicit)
    context = Context(SideFacts(found.side.snapshot), SideFacts(found.side.snapshot))
    assert grows_closed(closed, context)
    assert not grows_closed(opened, context)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_table_has_further_parts_for_bases_that_do_not_lie_at_its_start(compiler: str) -> None:
    found = tables(library(compiler))
    records = {each: found.side.shape(Name("record", each)) for each in CLASSES}
    several = {name for name, each in records.items() if isinstance(each, Record) and not found.has_one_table(each)}
    assert several == {"LogFile", "Mixed"}
