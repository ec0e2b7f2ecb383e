"""Class sizes and bases against abidw's."""

from __future__ import annotations

import hashlib
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.dwarf.info import DebugInfo
from abistore.extract.dwarf.instances import TemplateInstances
from abistore.extract.dwarf.records import read_record
from abistore.extract.dwarf.types import TypeReferences
from abistore.extract.elf.container import ElfFile
from abistore.extract.reader import ExtractOptions
from abistore.model.names.qualified import normal_name
from abistore.model.shapes import Named, Record
from tests.build import CACHE
from tests.extract.test_oracles_records import library_of_records

pytestmark = pytest.mark.full

LIBSTDCXX = Path("/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6")

PLAIN_NAME = "hash<std::basic_string<char, std::char_traits<char>, std::allocator<char> > >"
DEFINED_TWICE = normal_name(f"std::{PLAIN_NAME}")
"""Two units of libstdc++ define it, with a base and without; abidw picks another than the one that is exported."""

Bases = tuple[tuple[str, int | None], ...]


def abidw(path: Path) -> ElementTree.Element:
    """What abidw writes about a library, cached by the library's content."""
    key = hashlib.sha256(path.read_bytes()).hexdigest()[:24]
    cached = CACHE / f"abidw-{key}.xml"
    if not cached.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = cached.with_suffix(".partial")
        subprocess.run(["abidw", "--out-file", str(partial), str(path)], check=True, capture_output=True)
        partial.rename(cached)
    return ElementTree.parse(cached).getroot()


def classes(root: ElementTree.Element) -> dict[str, set[tuple[int, Bases]]]:
    """Size in bits and bases of each class definition with a name, by qualified name; several where units disagree."""
    names: dict[str, str] = {}
    definitions: list[tuple[str, ElementTree.Element]] = []

    def visit(element: ElementTree.Element, scope: str) -> None:
        for child in element:
            if child.tag in ("class-decl", "union-decl", "namespace-decl"):
                name = child.get("name", "") or "(anonymous namespace)"
                qualified = f"{scope}::{name}" if scope else name
                if child.tag != "namespace-decl" and "id" in child.attrib:
                    names[child.attrib["id"]] = qualified
                    if child.get("is-anonymous") != "yes" and child.get("is-declaration-only") != "yes":
                        definitions.append((qualified, child))
                visit(child, qualified)
            elif child.tag in ("abi-instr", "member-type", "abi-corpus"):
                visit(child, scope)

    visit(root, "")
    found: dict[str, set[tuple[int, Bases]]] = defaultdict(set)
    for qualified, element in definitions:
        bases = tuple(
            (
                normal_name(names[base.attrib["type-id"]]),
                None if base.get("is-virtual") == "yes" else int(base.get("layout-offset-in-bits", "0")),
            )
            for base in element.findall("base-class")
        )
        found[normal_name(qualified)].add((int(element.get("size-in-bits", "0")), bases))
    return found


def _records(path: Path) -> dict[str, set[tuple[int, Bases]]]:
    found: dict[str, set[tuple[int, Bases]]] = defaultdict(set)
    for name, shapes in read_snapshot(path, ExtractOptions()).entries["layout"].items():
        for shape in shapes:
            if isinstance(shape, Record):
                bases = tuple((spelled(base.type), base.offset) for base in shape.bases)
                found[name.spelling].add((8 * shape.size, bases))
    return found


def spelled(type: object) -> str:
    assert isinstance(type, Named)
    return type.name.spelling


def _mismatches(path: Path) -> tuple[int, list[str]]:
    theirs, ours = classes(abidw(path)), _records(path)
    common = theirs.keys() & ours.keys()
    return len(common), [name for name in sorted(common) if not ours[name] & theirs[name]]


@pytest.mark.skipif(not LIBSTDCXX.exists(), reason="libstdc++6-12-dbg is not installed")
def test_classes_of_libstdcxx_have_the_sizes_and_bases_that_abidw_finds() -> None:
    common, different = _mismatches(LIBSTDCXX)
    assert set(different) <= {DEFINED_TWICE}
    assert common > 600


@pytest.mark.skipif(not LIBSTDCXX.exists(), reason="libstdc++6-12-dbg is not installed")
def test_the_class_where_abidw_differs_has_two_definitions_in_libstdcxx() -> None:
    info = DebugInfo(ElfFile(LIBSTDCXX), alternate=None, debug_dirs=(), progress=None, addresses={}, tls_offsets={})
    types = TypeReferences(info, TemplateInstances, runtime=True)
    shapes = [read_record(types, info.die(handle)) for handle in info.definitions(PLAIN_NAME)]
    assert {len(shape.bases) for shape in shapes} == {0, 1}


def test_classes_of_a_generated_library_have_the_sizes_and_bases_that_abidw_finds() -> None:
    path, records = library_of_records("c++", "g++")
    common, different = _mismatches(path)
    assert not different
    assert common >= len(records)
