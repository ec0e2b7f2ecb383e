"""Whether debug information and headers of real libraries agree: ``python -m benchmarks.readers_agree [LIBRARY ...]``.

Prints a Markdown table of how many names both readers describe, how many of them differently, and each difference.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.shapes import Base, Enum, Enumerator, Field, Function, Method, Record, VirtualMethod
from abistore.model.snapshot import Snapshot
from benchmarks.accuracy.installed import included, installed, macros
from benchmarks.agreement import Difference, differences
from benchmarks.store import table
from examples.more_recipes import ALL
from examples.recipes import build

LIBRARIES = (
    "libleveldb",
    "libre2",
    "libyoga",
    "libzmq",
    "libuv",
    "libzstd",
    "libexpat",
    "libhiredis",
    "libsnappy",
    "libdouble-conversion",
)
KINDS = ("record", "enum", "alias", "function", "variable")
PARTS = (Field, Base, VirtualMethod, Enumerator, Method)


def read_both(library: str, version: str) -> Snapshot:
    """A release as its debug information and its installed headers describe it."""
    recipe = ALL[library]
    folders = [Path(each.removeprefix("-I")) for each in included(library, version) if each.startswith("-I")]
    other = [each for each in included(library, version) if not each.startswith("-I")]
    options = HeaderOptions(
        headers=tuple(installed(library, version)),
        include_dirs=tuple(folders),
        defines=tuple(macros(library)),
        language="c++" if recipe.compiler.endswith("++") else "c",
        clang_args=tuple(other),
    )
    return read_snapshot(build(recipe, version), ExtractOptions(headers=options))


def told(difference: Difference) -> Iterator[str]:
    """What differs, attribute by attribute: debug information, then headers."""
    if len(difference.layout) != 1 or len(difference.source) != 1:
        yield f"{len(difference.layout)} shapes, {len(difference.source)} in headers"
        return
    yield from _compared("", difference.layout[0], difference.source[0])


def _compared(where: str, layout: object, source: object) -> Iterator[str]:
    if layout == source:
        return
    if type(layout) is not type(source) or not isinstance(layout, (*PARTS, Record, Enum, Function)):
        yield f"{where}: {_short(layout)} / {_short(source)}"
        return
    for attribute in layout.__struct_fields__:
        one, other = getattr(layout, attribute), getattr(source, attribute)
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            for place, (left, right) in enumerate(zip(one, other, strict=True)):
                yield from _compared(f"{where}.{attribute}[{getattr(left, 'name', place)}]", left, right)
        else:
            yield from _compared(f"{where}.{attribute}", one, other)


def _short(value: object) -> str:
    return str(value)[:160]


def main(libraries: list[str]) -> None:
    """Prints the table, and what differs."""
    rows, found = [], []
    for library in libraries or LIBRARIES:
        version = ALL[library].version_numbers()[-1]
        snapshot = read_both(library, version)
        layout, source = snapshot.entries.get("layout", {}), snapshot.entries.get("source", {})
        shared = Counter(name.kind for name in layout.keys() & source.keys())
        different = list(differences(layout, source))
        rows.append([library.removeprefix("lib"), version, *(str(shared[kind]) for kind in KINDS), str(len(different))])
        found += [(library, version, each) for each in different]
    print(table(("library", "release", *KINDS, "different"), iter(rows)))
    for library, version, each in found:
        for line in told(each):
            print(f"- {library} {version}: {each.name}{line}")


if __name__ == "__main__":
    main(sys.argv[1:])
