"""Deltas of the evidence and of the toolchains: less debug information, other compiler options."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from abistore.compare.context import Context
from abistore.compare.diff.given_headers import not_given
from abistore.compare.diff.parts import PublicHeader, Toolchain
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.findings import evidence_rank
from abistore.model.names import SELF, Facet
from abistore.model.snapshot import HeadersRead, Snapshot

OPTIONS = (
    r"-f(no-)?(short-enums|short-wchar|(un)?signed-char|exceptions|rtti|threadsafe-statics|ms-extensions)"
    r"|-f(pack-struct|abi-version|tls-model|sanitize|lto)(=\S+)?"
    r"|-f(pcc|reg)-struct-return"
    r"|-m(abi|float-abi|regparm|long-double)[-=]?\S*|-m(no-)?ms-bitfields|-mrtd|-msseregparm"
    r"|-std=\S+"
)
"""Options that change layouts, calls or mangled names, as GCC records them. It does not record ``-D``."""


def evidence_deltas(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """How the evidence of each facet, and the recorded options, differ; each with the facet that it is about."""
    facets: tuple[Facet, ...] = ("layout", "source")
    for facet in facets:
        old, new = context.old.snapshot.evidence_of(facet), context.new.snapshot.evidence_of(facet)
        if evidence_rank(old) != evidence_rank(new):
            yield facet, Changed(Subject(SELF, f"{facet} evidence"), old, new)
    yield from _headers(context)
    if context.old.snapshot.provenance.compilers == context.new.snapshot.provenance.compilers:
        return
    old_options, new_options = recorded(context.old.snapshot), recorded(context.new.snapshot)
    if old_options is not None and new_options is not None and old_options != new_options:
        yield "layout", Changed(Subject(SELF, "toolchain"), Toolchain(old_options), Toolchain(new_options))


def _headers(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """The public headers that are gone or new. Two sets that have none in common are of different folders.

    One that was not given again, or stands in a folder that was not, is neither.
    """
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    gone, come = not_given(context.new, context.old), not_given(context.old, context.new)
    if isinstance(old, HeadersRead) and isinstance(new, HeadersRead) and set(old.files) & set(new.files):
        for file in _differing(old, new, gone):
            yield "source", Removed(Subject(SELF, file), PublicHeader(file))
        for file in _differing(new, old, come):
            yield "source", Added(Subject(SELF, file), PublicHeader(file))


def _differing(having: HeadersRead, lacking: HeadersRead, unknown: Collection[str]) -> list[str]:
    """The headers of one side that the other would have if they were there; ``unknown`` is what it was not given."""
    if any(each.endswith("/") for each in unknown):
        return []
    return sorted(set(having.files) - set(lacking.files) - set(unknown))


def recorded(snapshot: Snapshot) -> tuple[str, ...] | None:
    """The options of :data:`OPTIONS` that ``snapshot`` was built with, sorted; ``None`` where no compiler records any.

    Only GCC does by default.
    """
    producers = [text for text in snapshot.provenance.compilers if text.startswith("GNU C")]
    return tuple(sorted(set(_options(producers)))) if producers else None


def _options(producers: Iterable[str]) -> Iterator[str]:
    for text in producers:
        yield from (word for word in text.split() if re.fullmatch(OPTIONS, word))
