"""What nobody but the library names: only where headers were asked for all that leads to it."""

from __future__ import annotations

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Impact
from abistore.model.snapshot import INTERNALS_SHOWN, LATER_FACTS, HeadersRead, Snapshot
from tests.public_headers import implementing

GONE = "namespace geo { namespace detail { template <class T> T half(T n) { return n; } } }"
KEPT = "namespace geo { template <class T> T middle(T n) { return n; } }"


def library(text: str, facts: tuple[str, ...] = LATER_FACTS, unread: tuple[str, ...] = ()) -> Snapshot:
    found = implementing({"w.h": text})
    read = found.provenance.headers
    assert isinstance(read, HeadersRead)
    read = msgspec.structs.replace(read, facts=facts, unread=unread)
    return msgspec.structs.replace(found, provenance=msgspec.structs.replace(found.provenance, headers=read))


def worst(old: Snapshot, new: str) -> Impact:
    return max(each.impact for each in compare(old, library(new)).findings)


def test_what_is_internal_and_gone_is_a_risk() -> None:
    assert worst(library(GONE + KEPT), KEPT) is Impact.RISK


@pytest.mark.parametrize(
    ("facts", "unread"),
    [(tuple(each for each in LATER_FACTS if each != INTERNALS_SHOWN), ()), (LATER_FACTS, ("half",))],
)
def test_where_headers_do_not_tell_what_they_show_it_is_a_break(
    facts: tuple[str, ...], unread: tuple[str, ...]
) -> None:
    assert worst(library(GONE + KEPT, facts, unread), KEPT) is Impact.API_BREAK


def test_bodies_that_could_not_be_read_concern_what_has_their_words() -> None:
    assert worst(library(GONE + KEPT, unread=("quarter",)), KEPT) is Impact.RISK


@pytest.mark.parametrize("word", ["detail", "details", "impl_", "_internal", "json_detail", "detail_v2", "__aux"])
def test_namespaces_that_say_that_they_are_internal(word: str) -> None:
    assert worst(library(GONE.replace("detail", word) + KEPT), KEPT) is Impact.RISK


@pytest.mark.parametrize("word", ["tools", "implementations", "detailed", "internalize", "auxiliary"])
def test_namespaces_that_do_not(word: str) -> None:
    assert worst(library(GONE.replace("detail", word) + KEPT), KEPT) is Impact.API_BREAK
