"""Macros that headers use and that nothing defines: what builds pass on, and consumers must."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import libclang

_LONGEST = 500
"""Characters of a line that are looked at."""

_NAME = r"(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])"
_TAKES = r"(?P<takes>[ \t]*\([^()]*\))?"

_ATTRIBUTES = (
    re.compile(
        rf"\b(?:class|struct|union)[ \t]+{_NAME}{_TAKES}[ \t]+\w+[ \t]*(?:final\b|[:{{;]|$)"
    ),  # class FOO_API Foo {
    re.compile(rf"\)[ \t]*(?:const[ \t]+)?{_NAME}{_TAKES}[ \t]*[;{{]"),  # int f(int) FOO_NOTHROW;
    re.compile(rf"^[ \t]*(?:[\w:<>]+[ \t*&]+)+{_NAME}{_TAKES}[ \t]+\w+[ \t]*\("),  # int FOO_CALL f(int);
    re.compile(  # extern FOO_API int v;
        rf"(?:^|[{{;>]|\bextern\b)[ \t]*{_NAME}{_TAKES}[ \t]+[\w:]+[^();=,]*[ \t*&]\w+[ \t]*[(;\[=]"
    ),
    re.compile(rf"^[ \t]*{_NAME}{_TAKES}[ \t]*;?$"),  # FOO_BEGIN_DECLS, FOO_NO_COPY(Foo);
)
_AROUND_TYPES = re.compile(rf"^[ \t]*(?:extern[ \t]+)?{_NAME}[ \t]*\([^()]+\)[ \t]*\w+[ \t]*\(")
"""``FOO_EXPORT(int) f(int);``"""


def defined_macros(unit: Any) -> frozenset[str]:
    """The macros that are defined anywhere in a parsed unit."""
    lib = libclang()
    top = lib.top(unit)
    return frozenset(lib.spelling(each) for each in top if each.kind == kinds.MACRO)


def used_as_attributes(line: str) -> Iterator[tuple[str, str]]:
    """Names in a line that stand where attributes do, each with the definition by which it says nothing."""
    line = line[:_LONGEST].rstrip()
    if found := _AROUND_TYPES.search(line):
        yield found["name"], f"{found['name']}(type)=type"
        return
    for pattern in _ATTRIBUTES:
        for found in pattern.finditer(line):
            yield found["name"], f"{found['name']}{'(...)' if found['takes'] else ''}="
