"""What happens to single exported symbols."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.foreign import is_weak
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Added, Removed
from abistore.model.demangle import demangle
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.shapes import Symbol

CODE = ("function", "ifunc")
DATA = ("object", "common", "tls")
CLASS_DATA = ("_ZTV", "_ZTI", "_ZTS", "_ZTT", "_ZTC")
"""Prefixes of a class's vtable, typeinfo, typeinfo name, VTT and construction vtables."""


def is_function(name: Name) -> bool:
    """Whether ``name`` is code."""
    return name.kind == "function"


def is_inline(name: Name, context: Context, *, new: bool = False) -> bool:
    """Whether ``name`` is a C++ inline function, template instantiation or class datum, which its users emit too."""
    return name.spelling.startswith("_Z") and is_weak(context.new if new else context.old, name)


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="removed")
def func_removed(symbol: Removed[Symbol], context: Context) -> Iterator[Note]:
    """Exported function removed.

    A program linked against it no longer starts, or is killed at the first call: the loader cannot resolve the symbol.

    Fix: keep the function, as a wrapper if need be, or bump the SONAME.
    """
    name = symbol.subject.name
    if is_function(name) and not is_inline(name, context):
        yield Note("the function is no longer exported", demangle(name.spelling))


@rule(Impact.COMPATIBLE, evidence="symbol", element="functions", action="added")
def func_added(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """Exported function added.

    Built consumers do not ask for it. Programs linked against the new release need at least this release.

    Fix: nothing; raise the minor version, and put it in a new version node where the library has version nodes.
    """
    if is_function(symbol.subject.name):
        yield Note("the function is new", None, demangle(symbol.subject.name.spelling))
