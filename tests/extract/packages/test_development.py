"""Which headers of a development package are a library's own, on every system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from abistore.errors import LimitExceeded
from abistore.extract.packages import development
from abistore.extract.packages.development import HeaderProjects
from abistore.extract.packages.libraries import library_to_link
from abistore.model.snapshot import (
    HEADERS_FAILED,
    NO_EXPORT_DECLARED,
    NO_HEADERS_IN_PACKAGE,
    NOT_FOR_THIS_LIBRARY,
    Evidence,
    HeadersRead,
    Snapshot,
)
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
        ("libcase-1.0.so", "libcase-1.0"),
        ("libcase-1.0.a", "libcase-1.0"),
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


def of_texts(folder: Path, texts: dict[str, str], *, shared: str = "") -> HeaderProjects:
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    return HeaderProjects(folder, {folder / shared} if shared else ())


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


def test_of_libraries_in_one_namespace_each_has_the_headers_of_its_classes(tmp_path: Path) -> None:
    found = of_texts(tmp_path, {"core/model.h": "geo Model", "jobs/job.h": "geo Job"})
    assert found.of(frozenset({"geo", "Job"})) == ("jobs",)


def test_headers_that_begin_with_one_word_are_one_project(tmp_path: Path) -> None:
    found = of_texts(tmp_path, {"case.h": "case_add", "case_types.h": "", "other.h": "", "case/a.h": ""})
    assert found.of(frozenset({"case_add"})) == ("case.h", "case_types.h")


def test_folders_in_a_shared_folder_are_projects(tmp_path: Path) -> None:
    texts = {"qt/core/core.h": "", "qt/jobs/job.h": "#include <core/core.h>\ncase_add", "qt/more/more.h": ""}
    assert of_texts(tmp_path, texts).of(frozenset({"case_add"})) == ("qt",)
    assert of_texts(tmp_path, texts, shared="qt").of(frozenset({"case_add"})) == ("qt/core", "qt/jobs")


def test_a_folder_with_several_include_folders_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abistore.extract.packages.development.MOST_WHOLE", 1)
    config = b"d=/usr/include/qt\nCflags: -I${d} -I${d}/case\nLibs: -lcase\n"
    devel = {"usr/include/qt/case/case.h": HEADER, "usr/include/qt/other/bad.h": b"#include <nowhere.h>\n"}
    assert source_of(tmp_path, {**devel, "usr/lib/pkgconfig/case.pc": config}).state == "full"


def test_a_header_that_is_beside_the_one_that_includes_it_is_no_other_project_s(tmp_path: Path) -> None:
    texts = {"one/case.h": '#include "types.h"\nint case_add();', "one/types.h": "", "two/types.h": ""}
    assert of_texts(tmp_path, texts).of(frozenset({"case_add"})) == ("one",)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("namespace geo { struct P { int x(); }; int P::x() { return 1; } }", {"geo", "P"}),
        ('extern "C" int c_one() { return 1; } int two() { return 2; }', {"c_one", "two"}),
        (
            "namespace eig { template <class T> T one(T a) { return a; } template int one(int); }\n"
            "int f() { return 1; }",
            {"f"},
        ),
        ("namespace eig { template <class T> T one(T a) { return a; } template int one(int); }", {"eig"}),
    ],
)
def test_headers_mention_the_scopes_of_strong_exports(source: str, words: set[str]) -> None:
    (case,) = snapshots(build_library(source, language="c++"))
    assert development.words_of(case) == words


def source_of(tmp_path: Path, devel: packages.Files, *, library: str = "libcase", depends: str = "") -> Evidence:
    """The evidence of the headers of a library in Debian's package, beside a development package with these files."""
    held = {f"usr/lib/{library}.so.1": build_library(CASE, soname=f"{library}.so.1")}
    package = packages.deb(tmp_path, held)
    beside = packages.deb(tmp_path, devel, name="libcase-dev", depends=depends)
    (case,) = snapshots(package, devel_packages=(beside,))
    return case.evidence_of("source")


@pytest.mark.parametrize(
    ("library", "devel"),
    [
        ("libcase-1.0", {"usr/lib/libcase-1.0.so": "libcase-1.0.so.1"}),
        ("libcase-1.0", {"usr/lib/libcase.so": "libcase-1.0.so.1"}),
        ("libcase", {"usr/lib/libmore.so": b"INPUT(libcase.so.1 -lother)"}),
        ("libcase", {"usr/lib/libmore.so": b"INPUT(libother.so.1 -lcase)"}),
        ("libcase-1.0", {"usr/lib/libmore.a": b"!<arch>\n", "usr/lib/pkgconfig/c.pc": b"v=1.0\nLibs: -lcase-${v}\n"}),
    ],
)
def test_links_scripts_and_pc_files_name_the_libraries_of_a_development_package(
    tmp_path: Path, library: str, devel: dict[str, bytes | str]
) -> None:
    assert source_of(tmp_path, {"usr/include/case.h": HEADER, **devel}, library=library).state == "full"


def test_a_development_package_is_for_the_package_that_it_needs_in_one_version(tmp_path: Path) -> None:
    devel = {"usr/include/case.h": HEADER, "usr/lib/libmore.a": b"!<arch>\n"}
    depends = "libc6-dev, libcase1 (= 1.0-1)"
    assert source_of(tmp_path, devel, depends=depends).state == "full"


@pytest.mark.parametrize(
    ("devel", "reason", "said"),
    [
        ({"usr/lib/libother.so": "libother.so.1", "usr/include/o.h": HEADER}, NOT_FOR_THIS_LIBRARY, "for libother"),
        ({"usr/lib/libcase.so": "libcase.so.1"}, NO_HEADERS_IN_PACKAGE, "no headers"),
        ({"usr/lib/libcase.so": "libcase.so.1", "usr/include/o.h": b"int o;"}, NO_EXPORT_DECLARED, "declare none of"),
        ({"usr/lib/libcase.so": "libcase.so.1", "usr/include/o.h": b"#error no"}, HEADERS_FAILED, "does not parse"),
    ],
)
def test_headers_that_are_not_used_leave_the_reason(
    tmp_path: Path, devel: dict[str, bytes | str], reason: str, said: str
) -> None:
    found = source_of(tmp_path, devel)
    assert (found.state, found.reason) == ("missing", reason)
    assert said in found.detail


def test_what_headers_that_declare_no_export_could_not_read_is_told(tmp_path: Path) -> None:
    broken = {"usr/include/all.h": b'#include "o.h"\nint o(void);', "usr/include/o.h": b"unknown_type case_add(void);"}
    found = source_of(tmp_path, {"usr/lib/libcase.so": "libcase.so.1", **broken})
    assert (found.reason, "unknown_type" in found.detail) == (NO_EXPORT_DECLARED, True)


@pytest.mark.parametrize("sign", ['"{}"', "<{}>"])
def test_folders_below_include_are_searched_for_what_headers_name_from_there(tmp_path: Path, sign: str) -> None:
    text = f"#include {sign.format('case/types.h')}\nint case_add(case_int a, int b);"
    headers = {
        "usr/include/case-1/case/case.h": text.encode(),
        "usr/include/case-1/case/types.h": b"typedef int case_int;",
        "usr/include/case-2/case/types.h": b"typedef long case_int;",
    }
    assert source_of(tmp_path, {"usr/lib/libcase.so": "libcase.so.1", **headers}).state == "full"


def test_a_header_beside_another_is_found_in_angles_too(tmp_path: Path) -> None:
    headers = {
        "usr/include/case-1/case.h": b"#include <types.h>\nint case_add(case_int a, int b);",
        "usr/include/case-1/types.h": b"typedef int case_int;",
    }
    assert source_of(tmp_path, {"usr/lib/libcase.so": "libcase.so.1", **headers}).state == "full"


def test_pc_files_give_folders_and_macros(tmp_path: Path) -> None:
    config = b"prefix=/usr\ninclude = ${prefix}/include\nCflags: -I${include}/b -DCASE_INT=int\nLibs: -lcase\n"
    headers = {
        "usr/include/case.h": b"#include <types.h>\nint case_add(case_int a, int b);",
        "usr/include/a/types.h": b"#error not this one",
        "usr/include/b/types.h": b"typedef CASE_INT case_int;",
        "usr/lib/pkgconfig/case.pc": config,
    }
    found = source_of(tmp_path, {"usr/lib/libcase.so": "libcase.so.1", **headers})
    assert "a/types.h" in found.detail
    assert "unknown type name" not in found.detail


def test_folders_of_further_packages_are_searched_and_their_headers_are_not_public(tmp_path: Path) -> None:
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": build_library(CASE)})
    text = b"#include <base.h>\nint case_add(base_int a, int b);"
    own = {"usr/include/case.h": text, "usr/lib/libcase.so": "libcase.so.1"}
    config = b"Cflags: -I/usr/include/base-2.0\nLibs: -lbase\n"
    base = {"usr/include/base-2.0/base.h": b"typedef int base_int;", "usr/lib/pkgconfig/base.pc": config}
    devel = packages.deb(tmp_path, own, name="libcase-dev"), packages.deb(tmp_path, base, name="libbase-dev")
    (case,) = snapshots(package, devel_packages=devel)
    assert case.evidence_of("source").state == "full"
    assert list(read(case)) == ["case.h"]


SOURCE = {"Source": "case"}


def test_headers_without_a_library_are_of_the_sources_that_they_come_from(tmp_path: Path) -> None:
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": build_library(CASE)}, control=SOURCE)
    sibling = packages.deb(tmp_path, {"usr/lib/libother.so": "libother.so.1"}, name="other-dev", control=SOURCE)
    stranger = packages.deb(tmp_path, {"usr/include/case.h": HEADER}, name="proto-dev")
    (case,) = snapshots(package, devel_packages=(sibling, stranger))
    assert case.evidence_of("source").reason == NOT_FOR_THIS_LIBRARY
    (case,) = snapshots(package, devel_packages=(stranger,))
    assert case.evidence_of("source").state == "full"


def test_a_header_that_is_called_as_its_folder_is_found(tmp_path: Path) -> None:
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": build_library(CASE)})
    own = {"usr/include/case.h": b"#include <Pty>\nint case_add(pty a, int b);", "usr/lib/libcase.so": "libcase.so.1"}
    devel = packages.deb(tmp_path, own, name="libcase-dev")
    other = packages.deb(tmp_path, {"usr/include/KF5/Pty/Pty": b"typedef int pty;"}, name="libpty-dev")
    (case,) = snapshots(package, devel_packages=(devel, other))
    assert case.evidence_of("source").state == "full"


def pool(tmp_path: Path) -> Path:
    """A folder of packages, one with the headers of ``libcase1``, which need two of the others."""
    folder = tmp_path / "pool"
    folder.mkdir()
    text = b"#include <base.h>\n#include <more.h>\nint case_add(base_int a, more_int b);"
    own = {
        "usr/include/case.h": text,
        "usr/lib/libcase.so": "libcase.so.1",
        "usr/lib/pkgconfig/case.pc": b"Requires: more >= 1.0\nLibs: -lcase\n",
    }
    packages.deb(folder, own, name="libcase-dev", depends="libcase1 (= 1.0-1), libbase-dev (>= 1) | libother-dev")
    config = b"Cflags: -I/usr/include/base-2.0\nLibs: -lbase\n"
    base = {"usr/include/base-2.0/base.h": b"typedef int base_int;", "usr/lib/pkgconfig/base.pc": config}
    packages.deb(folder, base, name="libbase-dev")
    packages.deb(
        folder,
        {"usr/include/more.h": b"typedef int more_int;", "usr/share/pkgconfig/more.pc": b"Cflags:\n"},
        name="more-dev",
    )
    packages.deb(folder, {"usr/include/stray.h": b"#error never read"}, name="stray-dev")
    return folder


def test_of_a_folder_of_packages_those_are_read_that_headers_need(tmp_path: Path) -> None:
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": build_library(CASE)})
    (case,) = snapshots(package, devel_packages=(pool(tmp_path),))
    assert case.evidence_of("source").state == "full"
    assert list(read(case)) == ["case.h"]


def test_of_a_folder_in_which_no_package_needs_the_library_all_packages_are_read(tmp_path: Path) -> None:
    (case,) = snapshots(build_library(CASE), devel_packages=(pool(tmp_path),))
    assert case.evidence_of("source").state == "full"


def test_more_packages_than_are_unpacked_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abistore.extract.packages.reader.MOST_PACKAGES", 2)
    with pytest.raises(LimitExceeded, match="4 packages may have needed headers"):
        snapshots(build_library(CASE), devel_packages=(pool(tmp_path),))


LINKED = {
    "usr/lib/libcase.so": "libcase.so.1",
    "usr/include/case.h": b"#include <case/types.h>\nint case_add(case_int a, int b);\n",
    "usr/include/case": "../lib/case/types.case",
    "usr/include/old/case": "../../lib/case/types.case",
    "usr/lib/case/types.case/types.h": b"typedef int case_int;\n",
}


def test_links_in_include_folders_lead_to_headers_elsewhere_in_the_package(tmp_path: Path) -> None:
    assert source_of(tmp_path, LINKED).state == "full"


@pytest.mark.parametrize("target", ["/etc", "../../../../etc", "../..", "nowhere", "case", "n" * 300])
def test_links_that_lead_out_of_a_package_or_in_circles_are_left_out(tmp_path: Path, target: str) -> None:
    devel = {"usr/lib/libcase.so": "libcase.so.1", "usr/include/all.h": HEADER, "usr/include/case": target}
    assert source_of(tmp_path, devel).state == "full"


def test_links_name_headers_of_packages_that_are_searched(tmp_path: Path) -> None:
    links = {"usr/include/case": "usr/lib/case", "usr/include/one.h": "usr/lib/case/a.h"}
    found = development.through_links(["usr/lib/case/a.h", "usr/lib/b.h"], links)
    assert sorted(found) == ["usr/include/case/a.h", "usr/include/one.h"]
