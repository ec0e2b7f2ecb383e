"""SYCL runtimes and plugins, as far as dependencies and export tables tell."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.consumers.entry_points import is_entry_point
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.tables import Library, Symbol

VENDORS = {
    "libsycl": "DPC++",
    "libacpp-rt": "AdaptiveCpp",
    "libhipSYCL-rt": "AdaptiveCpp",
    "libopensycl-rt": "AdaptiveCpp",
    "libComputeCpp": "ComputeCpp",
}
"""The vendor of each SYCL runtime, by the stem of its SONAME."""


def _vendor(library: Library) -> str | None:
    found = {VENDORS[stem] for each in library.needed if (stem := each.partition(".so")[0]) in VENDORS}
    return found.pop() if len(found) == 1 else None


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def sycl_implementation_changed(library: Changed[Library]) -> Iterator[Note]:
    """The library uses the SYCL runtime of another vendor.

    Queues, buffers and events that programs made with the old runtime are objects of other classes in another library:
    handed over, they are misread.

    Fix: ship one build for each SYCL implementation, under names of their own.
    """
    old, new = _vendor(library.old), _vendor(library.new)
    if old and new and old != new:
        yield Note("the SYCL runtime is another vendor's", old, new)


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="removed")
def sycl_pi_entrypoint_removed(symbol: Removed[Symbol], context: Context) -> Iterator[Note]:
    """An entry point of a SYCL plugin was removed.

    The runtime looks up the plugin's functions by name when it opens the plugin. It refuses the backend, or fails at
    the first use.

    Fix: keep the entry point, or release plugin and runtime together.
    """
    name = symbol.subject.name
    if is_entry_point(name, context.old.snapshot):
        yield Note("the plugin's entry point is gone", name.spelling)


@rule(Impact.COMPATIBLE, evidence="symbol", element="functions", action="added")
def sycl_pi_entrypoint_added(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """An entry point of a SYCL plugin was added.

    Built runtimes do not look for it.

    Fix: nothing.
    """
    name = symbol.subject.name
    if is_entry_point(name, context.new.snapshot):
        yield Note("the plugin's entry point is new", None, name.spelling)
