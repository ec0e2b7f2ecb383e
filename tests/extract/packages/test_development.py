"""Which headers of a development package are a library's own, on every system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from abistore.extract.packages import own_headers
from abistore.extract.packages.libraries import library_to_link
from abistore.extract.packages.own_headers import HeaderProjects
from abistore.model.snapshot import HeadersRead, Snapshot
from tests import packages
from tests.build import build_library
from tests.extract.macho_fixtures import build_dylib
from tests.extract.packages.test_packages import CASE, snapshots
from tests.extract.pe_fixtures import mingw

HEADER = b"int case_add(int a, int b);\n"


def read(snapshot: Snapshot) -> Sequence[str]:
    assert isinstance(snapshot.provenance.headers, HeadersRead)
    return snapshot.provenance.headers.files


@pytest.mark.parametrize(
    ("file", "library"),
    [
        ("libcase.so", "libcase"),
        ("libcase.so.1.2", "libcase"),
        ("libcase.a", "libcase"),
        ("libcase.1.2.dylib", "libcase"),
        ("libcase.tbd", "libcase"),
        ("libcase.dll.a", "libcase"),
        ("case-1.dll", "case"),
        ("Case.lib", "Case"),
        ("case.h", ""),
    ],
)
def test_programs_link_with_many_kinds_of_files(file: str, library: str) -> None:
    assert library_to_link(file) == library


@pytest.mark.full
def test_a_wheel_with_versioned_dylibs_is_their_development_package(tmp_path: Path) -> None:
    held = {"case/libcase.1.2.dylib": build_dylib(CASE), "case/include/case.h": HEADER}
    package = packages.wheel(tmp_path, held)
    (case,) = snapshots(package, devel_packages=(package,))
    assert case.evidence_of("source").state == "full"


@pytest.mark.full
def test_a_dll_is_linked_by_the_import_library_of_its_name_without_lib(tmp_path: Path) -> None:
    library = mingw(CASE, language="c")
    held = {"case/case.dll": library, "case/libcase.dll.a": b"!<arch>\n", "case/include/case.h": HEADER}
    package = packages.wheel(tmp_path, held)
    (case,) = snapshots(package, devel_packages=(package,))
    assert case.evidence_of("source").state == "full"


def of_projects(tmp_path: Path, **others: bytes) -> Path:
    """A wheel with the headers of several projects, of which `case` is the library's own."""
    headers = {
        "case/include/case/case.h": b'#include "shared/shared.h"\nint case_add(int a, int b);\n',
        "case/include/case/constants.h": b"enum case_constant { CASE_ONE };\n",
        "case/include/shared/shared.h": b"struct shared { int x; };\n",
        "case/include/other/other.h": b"#include <nowhere.h>\nint other(void);\n",
    }
    return packages.wheel(tmp_path, {"case/libcase.so": build_library(CASE), **headers})


def test_of_many_headers_those_are_read_that_mention_an_export_and_what_these_include(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = of_projects(tmp_path)
    (whole,) = snapshots(package, devel_packages=(package,))
    assert "other/other.h" in read(whole)
    assert whole.evidence_of("source").state == "partial"
    monkeypatch.setattr("abistore.extract.packages.development.MOST_WHOLE", 3)
    (case,) = snapshots(package, devel_packages=(package,))
    assert sorted(read(case)) == ["case/case.h", "case/constants.h", "shared/shared.h"]
    assert case.evidence_of("source").state == "full"


def of_texts(folder: Path, texts: dict[str, str]) -> HeaderProjects:
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    return HeaderProjects(folder)


def test_a_library_that_no_header_of_many_mentions_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abistore.extract.packages.development.MOST_WHOLE", 1)
    held = {"case/libcase.so": build_library(CASE), "case/include/a/a.h": b"int a;", "case/include/b/b.h": b"int b;"}
    package = packages.wheel(tmp_path, held)
    (case,) = snapshots(package, devel_packages=(package,))
    assert case.evidence_of("source").state == "missing"


def test_a_word_is_looked_for_where_most_of_them_are_mentioned(tmp_path: Path) -> None:
    found = of_texts(tmp_path, {"case/a.h": "one two", "more/b.h": "three one", "user/c.h": "one two"})
    assert found.of(frozenset({"one", "two"})) == ("case",)
    assert found.of(frozenset({"one", "two", "three"})) == ("case", "more")


def test_headers_that_begin_with_one_word_are_one_project(tmp_path: Path) -> None:
    found = of_texts(tmp_path, {"case.h": "case_add", "case_types.h": "", "other.h": "", "case/a.h": ""})
    assert found.of(frozenset({"case_add"})) == ("case.h", "case_types.h")


def test_a_header_that_is_beside_the_one_that_includes_it_is_no_other_project_s(tmp_path: Path) -> None:
    texts = {"one/case.h": '#include "types.h"\nint case_add();', "one/types.h": "", "two/types.h": ""}
    assert of_texts(tmp_path, texts).of(frozenset({"case_add"})) == ("one",)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("namespace geo { struct P { int x(); }; int P::x() { return 1; } }", {"geo"}),
        ('extern "C" int c_one() { return 1; } int two() { return 2; }', {"c_one", "two"}),
        (
            "namespace eig { template <class T> T one(T a) { return a; } template int one(int); }\n"
            "int f() { return 1; }",
            {"f"},
        ),
        ("namespace eig { template <class T> T one(T a) { return a; } template int one(int); }", {"eig"}),
    ],
)
def test_headers_mention_the_outermost_scope_of_strong_exports(source: str, words: set[str]) -> None:
    (case,) = snapshots(build_library(source, language="c++"))
    assert own_headers.words_of(case) == words
