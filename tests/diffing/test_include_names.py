"""Headers are gone where programs cannot include them by the names that they had."""

from __future__ import annotations

import pytest

from abistore.diffing.headers import include_name
from abistore.diffing.judge.judged import compare
from abistore.model.snapshot import Evidence, HeaderFolder, HeadersRead, Provenance, Snapshot
from tests.diffing.model import TARGET


def folders(*files: str, given: tuple[str, ...] = ("include/",)) -> HeadersRead:
    """All headers of folders."""
    return HeadersRead(files, given=given)


def alone(*files: str, beside: tuple[str, ...] = ()) -> HeadersRead:
    """Headers that were given by themselves, and what lies beside them."""
    return HeadersRead(files, given=files, folders=(HeaderFolder(files, beside),))


def lost(old: HeadersRead, new: HeadersRead) -> list[str | None]:
    """The headers that are found to be gone."""
    evidence = (Evidence("source", "full", source="headers"),)
    first, second = (
        Snapshot("lib", None, TARGET, {"source": {}}, evidence, Provenance(headers=each)) for each in (old, new)
    )
    return [each.old_value for each in compare(first, second).findings if each.kind == "header_removed"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (folders("foo.h"), folders("foo2.h")),
        (folders("foo.h"), folders("foo/foo.h")),
        (folders("foo/foo.h"), folders("foo.h")),
        (folders("foo.h"), folders("Foo.h")),
        (folders("foo.h"), folders("foo.hpp")),
        (folders("SDL2/foo.h"), folders("SDL3/foo.h")),
        (folders("bar.h", "foo.h"), folders("foo/bar.h", "foo/foo.h")),
        (folders("foo-1.2/foo.h"), folders("foo-1.3/foo2.h")),
        (folders("foo/v2/foo.h"), folders("foo/v3/foo.h")),
        (folders("foo/1.2/foo.h"), folders("foo/2.0/foo.h")),
        (folders("foo/v2.0.3/a/foo.h"), folders("foo/v2.0.4/b/foo.h")),
        (folders("foo/v2.0.3/foo.h"), folders("foo/v2.0.4/foo/foo.h")),
        (folders("foo-gnu/foo.h"), folders("foo.h")),
        (folders("foo.h", given=("i0/",)), folders("foo/foo.h", given=("i2/",))),
        (alone("foo.h"), alone("foo2.h")),
        (alone("bar.h", "foo.h"), alone("bar2.h", "foo2.h")),
    ],
)
def test_headers_that_all_have_other_names_are_gone(old: HeadersRead, new: HeadersRead) -> None:
    assert lost(old, new) == [*old.files]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (folders("foo.h"), folders("foo.h", "foo2.h")),
        (folders("foo-1.2/foo.h"), folders("foo-1.3/foo.h")),
        (folders("lib-1_83/lib/foo.hpp"), folders("lib-1_84/lib/foo.hpp")),
        (folders("foo-1.2/foo.h"), folders("foo.h")),
        (folders("foo/v2.0.3/foo/foo.h"), folders("foo/v2.0.4/foo/foo.h")),
        (folders("foo/bar-1.2/bar.h"), folders("foo/bar-1.3/bar.h")),
        (folders("foo/1.2.3/bar/1.2.3/b.h"), folders("foo/1.2.4/bar/1.2.4/b.h")),
        (folders("x86_64-linux-gnu/foo-1.2/foo.h"), folders("x86_64-linux-gnu/foo-1.3/foo.h")),
        (folders("foo/foo.h"), folders("x86_64-linux-gnu/foo/foo.h")),
        (folders("arm-linux-gnueabihf/foo.h"), folders("foo.h")),
        (folders("foo.h", given=("foo/",)), folders("foo/foo.h")),
        (folders("foo/foo.h"), folders("foo.h", given=("foo/",))),
        (folders("gen/b.h", "a.h", given=("gen/", "inc/")), folders("inc/a.h", "b.h", given=("gen/", "inc/"))),
        (alone("v1.h"), alone("v2.h", beside=("v1.h",))),
        (alone("foo.h"), folders("foo/foo.h")),
        (folders("foo/foo.h"), alone("foo.h")),
        (HeadersRead(("foo.h",), given=("foo.h",)), HeadersRead(("foo2.h",), given=("foo2.h",))),
        (HeadersRead(("foo.h",)), HeadersRead(("foo2.h",))),
    ],
)
def test_headers_that_programs_include_as_before_are_not_gone(old: HeadersRead, new: HeadersRead) -> None:
    assert lost(old, new) == []


def test_an_include_name_has_none_of_the_folders_that_compilers_search() -> None:
    given = ("gen/", "inc/")
    names = [include_name(each, folders(given=given)) for each in ("a.h", "gen/b.h", "x/c.h", "foo-1.2/1.2.3/d.h")]
    assert names == ["a.h", "b.h", "x/c.h", "d.h"]
