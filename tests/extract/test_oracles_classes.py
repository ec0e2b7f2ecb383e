"""All classes in the debug information of C++ libraries against abidw's, and against the compiler where abidw errs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.info import DebugInfo
from abistore.extract.dwarf.instances import TemplateInstances
from abistore.extract.dwarf.records import read_record
from abistore.extract.dwarf.types import TypeReferences
from abistore.extract.dwarf.walk import children
from abistore.extract.elf.container import ElfFile
from abistore.model.shapes import Named
from tests.build import build_library
from tests.extract.test_oracles_abidw import LIBSTDCXX, Bases, abidw, classes, spelled
from tests.releases import UNOPTIMISED_JSONNET, release

pytestmark = pytest.mark.full

Shapes = Mapping[str, set[tuple[int, Bases]]]
"""Size in bits and bases of each record, by qualified name; several where units disagree."""

RECORDS = frozenset({dw.TAG_STRUCTURE_TYPE, dw.TAG_CLASS_TYPE, dw.TAG_UNION_TYPE})
ARGUMENT_LIST = "typedef __va_list_tag __va_list_tag"
"""What g++ calls the record of ``va_list``, and abidw with it; here it has the name that C gives it."""


def every_record(path: Path) -> Shapes:
    """Every record that any unit defines, whether an export reaches it or not."""
    info = DebugInfo(ElfFile(path), alternate=None, debug_dirs=(), progress=None, addresses={}, tls_offsets={})
    types = TypeReferences(info, TemplateInstances, runtime=True)
    found: dict[str, set[tuple[int, Bases]]] = defaultdict(set)
    for handle in _definitions(info):
        mention = types.reference(handle)
        if isinstance(mention, Named):
            record = read_record(types, info.die(handle))
            bases = tuple((spelled(base.type), base.offset) for base in record.bases)
            found[mention.name.spelling].add((8 * record.size, bases))
    return found


def _definitions(info: DebugInfo) -> Iterator[int]:
    for unit in info.units:
        unit.load()
        pending = [unit.top]
        while pending:
            for handle, abbreviation, start in children(unit, pending.pop()):
                position, attributes = abbreviation.decode(unit.data, start, unit)
                if abbreviation.tag in RECORDS and dw.AT_DECLARATION not in attributes:
                    yield handle
                if abbreviation.has_children:
                    pending.append(position)


def every_class(path: Path) -> Shapes:
    """What abidw finds, but for classes whose name holds a closure: it does not tell closures apart."""
    found = classes(abidw(path))
    named = {name: shapes for name, shapes in found.items() if "lambda(" not in name and name != ARGUMENT_LIST}
    assert len(named) > 0.95 * len(found)
    return named


def test_every_class_of_a_real_library_has_the_size_and_bases_that_abidw_finds() -> None:
    path = release(UNOPTIMISED_JSONNET, "0.20.0")
    theirs, ours = every_class(path), every_record(path)
    assert theirs.keys() <= ours.keys()
    assert [name for name, shapes in theirs.items() if not shapes <= ours[name]] == []
    assert len(theirs) > 1200
    assert sum(bool(bases) for shapes in theirs.values() for _, bases in shapes) > 300


@pytest.mark.skipif(not LIBSTDCXX.exists(), reason="libstdc++6-12-dbg is not installed")
def test_every_class_of_libstdcxx_has_the_size_and_bases_that_abidw_or_the_compiler_finds() -> None:
    theirs, ours = every_class(LIBSTDCXX), every_record(LIBSTDCXX)
    assert theirs.keys() <= ours.keys()
    assert [name for name, shapes in theirs.items() if not shapes & ours[name]] == []
    assert len(theirs) > 1400
    # abidw lists some classes twice, once with their bases and once without any: the compiler has them with bases.
    surplus = {name: shapes - ours[name] for name, shapes in theirs.items() if shapes - ours[name]}
    assert len(surplus) < 100
    assert all(not bases for shapes in surplus.values() for _, bases in shapes)
    assert_compiled({name: ours[name] for name in surplus})


def assert_compiled(shapes: Shapes) -> None:
    """The compiler has these classes of the standard library in these sizes and with these bases."""
    by_abi: dict[int, list[str]] = {0: [], 1: []}
    for name, ((size, bases),) in ((name, tuple(found)) for name, found in shapes.items()):
        assert bases, name
        assertions = by_abi["__cxx11" in name]
        assertions.append(f"static_assert(8 * sizeof({name}) == {size});")
        assertions += [f"static_assert(std::is_base_of_v<{base}, {name}>);" for base, _ in bases]
    for abi, assertions in by_abi.items():
        source = "#include <bits/extc++.h>\n#include <ext/stdio_filebuf.h>\n" + "\n".join(assertions)
        build_library(source, language="c++", flags=("-std=c++17", f"-D_GLIBCXX_USE_CXX11_ABI={abi}"))
