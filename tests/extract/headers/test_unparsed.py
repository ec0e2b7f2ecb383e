"""Words of headers that do not parse: what they may declare, and where that is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.headers.unparsed import spelled_words
from abistore.model.findings import Verdict
from abistore.model.snapshot import Snapshot
from tests import packages
from tests.build import build_library
from tests.extract.packages.test_packages import snapshots


def words(tmp_path: Path, text: str, **others: str) -> frozenset[str] | None:
    """The words of ``geo/geo.h`` with this text, which lies beside ``others``."""
    (tmp_path / "geo").mkdir(exist_ok=True)
    for name, each in {"geo": text, **others}.items():
        (tmp_path / "geo" / f"{name}.h").write_text(each)
    path = tmp_path / "geo" / "geo.h"
    return spelled_words({path: text}, {path: "geo/geo.h"}, [tmp_path])


def test_words_are_those_of_code(tmp_path: Path) -> None:
    found = words(tmp_path, "#include <gtk/gtk.h>\n/* geo_old */ GtkWidget *geo_new(GtkWidget *w, int n);\n")
    assert found is not None
    assert {"geo_new", "GtkWidget"} <= found
    assert "geo_old" not in found


def test_an_include_that_is_no_file_name_is_of_nobody(tmp_path: Path) -> None:
    assert words(tmp_path, f"#include <{'n' * 300}/a.h>\nint geo_new(void);\n") is not None


@pytest.mark.parametrize(
    ("text", "pasted"),
    [
        ("G_DECLARE(Geo, geo_view);", {"*Geo*", "*geo_view*"}),
        ("#define GEO(name) G_DECLARE(name, geo_view)\nGEO(map)", {"*geo_view*", "*map*"}),
        ("#define GEO(name) G_DECLARE \\\n (name, geo_view)\nGEO(map)", {"*geo_view*", "*map*"}),
        ("int geo_first(int a, int b);", set()),
    ],
    ids=["arguments", "arguments within a macro", "on two lines", "parameters"],
)
def test_macros_of_other_headers_may_make_names_of_their_arguments(tmp_path: Path, text: str, pasted: set[str]) -> None:
    assert {each for each in words(tmp_path, text) or () if "*" in each} == pasted


@pytest.mark.parametrize(
    "text",
    [
        "#define GEO(name) int geo_##name(void);",
        'int geo_first(void) __asm__("geo_1");',
        "#include GEO_HEADER",
        '#include "internal.h"',
        "#include <geo/missing.h>",
        "#include <geo_missing.h>",
    ],
    ids=["pasted", "renamed", "named by a macro", "not given", "missing in its folder", "missing beside it"],
)
def test_headers_may_declare_more_than_they_spell(tmp_path: Path, text: str) -> None:
    assert words(tmp_path, text, internal="int geo_more(void);") is None


RISK, BREAK = Verdict.COMPATIBLE_WITH_RISK, Verdict.BREAKING
OLD = "int geo_add(int a) { return a; } int geo_help(int a) { return a; } int geo_view_type(void) { return 1; }"
DECLARED = b"#include <gtk/gtk.h>\nint geo_add(GtkWidget *a);\n"


def release(place: Path, source: str, *headers: bytes) -> Snapshot:
    """A library in a package, with the headers of its development package."""
    place.mkdir()
    package = packages.deb(place, {"usr/lib/libgeo.so.1": build_library(source, soname="libgeo.so.1")})
    named = {f"usr/include/geo{number}.h": text for number, text in enumerate(headers)}
    devel = packages.deb(place, {"usr/lib/libgeo.so": "libgeo.so.1", **named}, name="libgeo-dev")
    (found,) = snapshots(package, devel_packages=(devel,))
    return found


@pytest.mark.parametrize(
    ("source", "headers", "verdict"),
    [
        (
            "int geo_add(int a) { return a; } int geo_view_type(void) { return 1; }",
            DECLARED,
            RISK,
        ),
        ("int geo_help(int a) { return a; } int geo_view_type(void) { return 1; }", DECLARED, BREAK),
        (
            "int geo_add(int a) { return a; } int geo_help(int a) { return a; }",
            DECLARED + b"G_DECLARE(geo_view);\n",
            BREAK,
        ),
        ("int geo_add(int a) { return a; }", b"#include <gtk/gtk.h>\nint other(void);\n", BREAK),
    ],
    ids=["in no header", "in the header", "made by a macro", "headers of another library"],
)
def test_an_export_that_no_header_spells_is_removed_without_a_break(
    tmp_path: Path, source: str, headers: bytes, verdict: Verdict
) -> None:
    old, new = release(tmp_path / "old", OLD, headers), release(tmp_path / "new", source, headers)
    assert old.evidence_of("source").reason == "headers-failed"
    assert compare(old, new).verdict is verdict


@pytest.mark.parametrize(
    ("gone", "verdict"),
    [("geo_help", RISK), ("geo_view_type", BREAK)],
    ids=["help", "view"],
)
def test_headers_with_errors_declare_what_they_spell(tmp_path: Path, gone: str, verdict: Verdict) -> None:
    texts = b'#include "geo1.h"\nint geo_add(int a);\n', b"int geo_view_type(unknown_type a);\n"
    old = release(tmp_path / "old", OLD, *texts)
    new = release(tmp_path / "new", OLD.replace(f"int {gone}", f"static int {gone}"), *texts)
    assert old.evidence_of("source").reason == "header-errors"
    assert compare(old, new).verdict is verdict
