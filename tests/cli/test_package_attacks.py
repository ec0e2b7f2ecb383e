"""Packages that would walk around a gate: what is installed and loaded is what is judged, or it is told or refused."""

from __future__ import annotations

import io
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import packages
from tests.build import build_library
from tests.cli.conftest import Call
from tests.cli.test_packages import case
from tests.cli.test_packages_elsewhere import ADD as DLL_ADD
from tests.cli.test_packages_elsewhere import dll

pytestmark = pytest.mark.full

GOOD = "struct p { int a, b; }; int add(struct p *p) { return p->a; } int less(int a) { return a; }"
BAD = "struct p { int a, b; }; int add(struct p *p) { return p->a; }"
HIDDEN_BAD = "struct p { long x; int a, b; }; int add(struct p *p) { return p->a; } int less(int a) { return a; }"
LIB = "usr/lib"


def members(place: Path, name: str, held: Sequence[tuple[str, Path | str]]) -> Path:
    """A tar archive with these members in order, whatever their names; text is where a link leads."""
    made = place / name
    with tarfile.open(made, "w:gz") as archive:
        for path, content in held:
            member = tarfile.TarInfo(path)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                data = content.read_bytes()
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return made


@pytest.fixture
def first(tmp_path: Path, abistore: Call) -> Path:
    """The release that stands as baseline, with its library behind a link as on every system."""
    held = [(f"{LIB}/libcase.so.1.0", case(GOOD)), (f"{LIB}/libcase.so.1", "libcase.so.1.0")]
    old = members(tmp_path, "case-1.0.tar.gz", held)
    assert abistore("ingest", old, "--set-baseline").code == 0
    return old


@pytest.mark.parametrize("order", [(GOOD, BAD), (BAD, GOOD)])
def test_a_path_that_comes_twice_is_refused(
    order: tuple[str, str], tmp_path: Path, abistore: Call, first: Path
) -> None:
    """Tools that unpack it install the last one; nobody may be shown the other."""
    new = members(tmp_path, "case-1.1.tar.gz", [(f"{LIB}/libcase.so.1", case(each)) for each in order])
    for verb in (("compare", first, new), ("gate", new), ("ingest", new)):
        done = abistore(*verb)
        assert (done.code, "several members named 'usr/lib/libcase.so.1'" in done.err) == (65, True), done.err


def test_a_path_that_comes_twice_in_a_wheel_is_refused(tmp_path: Path, abistore: Call, first: Path) -> None:
    new = tmp_path / "case-1.1-py3-none-linux_x86_64.whl"
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(new, "w") as archive:
        archive.write(case(GOOD), "case/libcase.so.1")
        archive.write(case(BAD), "case/libcase.so.1")
    assert "several members named" in abistore("compare", first, new).err


def test_a_link_in_the_place_of_a_library_is_refused(tmp_path: Path, abistore: Call, first: Path) -> None:
    held = [(f"{LIB}/libcase.so.1", case(GOOD)), (f"{LIB}/libcase.so.1", "libx.so.1"), (f"{LIB}/libx.so.1", case(BAD))]
    assert abistore("gate", members(tmp_path, "case-1.1.tar.gz", held)).code == 65


def test_one_library_twice_at_one_path_is_no_attack(tmp_path: Path, abistore: Call, first: Path) -> None:
    held = [(f"{LIB}/libcase.so.1", case(GOOD))] * 2
    assert abistore("compare", first, members(tmp_path, "case-1.1.tar.gz", held)).code == 0


@pytest.mark.parametrize("links", [["hidden.so"], ["libagain.so.9", "hidden.so"]])
def test_the_library_is_read_that_the_link_of_its_soname_leads_to(
    links: list[str], tmp_path: Path, abistore: Call, first: Path
) -> None:
    names = ["libcase.so.1", *links]
    held: list[tuple[str, Path | str]] = [(f"{LIB}/{name}", to) for name, to in zip(names, links, strict=False)]
    held += [(f"{LIB}/libcase.so.1.0", case(GOOD)), (f"{LIB}/hidden.so", case(BAD))]
    done = abistore("gate", members(tmp_path, "case-1.1.tar.gz", held))
    assert (done.code, "func_removed" in done.out) == (4, True), done.out
    assert "usr/lib/libcase.so.1.0 (another libcase)" in done.out


def test_a_second_build_beside_the_one_that_is_judged_is_not_green(tmp_path: Path, abistore: Call, first: Path) -> None:
    held = [(f"{LIB}/libcase.so.1", case(GOOD)), (f"{LIB}/fast/libcase.so.1", case(BAD))]
    new = members(tmp_path, "case-1.1.tar.gz", held)
    for command in (["gate"], ["ingest", "--against", "baseline"]):
        done = abistore(*command, new)
        assert done.code == 72, done.out
        assert "not judged: usr/lib/fast/libcase.so.1 (another libcase)" in done.out + done.err
    assert "restore what" not in abistore("gate", new).out
    assert abistore("gate", new, "--only", "usr/lib/libcase.so.1").code == 0
    assert abistore("gate", new, "--only", "usr/lib/fast/*").code == 4
    assert abistore("gate", new, "--require", "none").code == 0


def test_a_copy_of_the_library_that_is_judged_is_no_second_build(tmp_path: Path, abistore: Call, first: Path) -> None:
    held = [(f"{LIB}/libcase.so.1", case(GOOD)), (f"{LIB}/fast/libcase.so.1", case(GOOD))]
    done = abistore("gate", members(tmp_path, "case-1.1.tar.gz", held))
    assert (done.code, "another libcase" in done.out) == (0, False)


def test_links_in_a_circle_end(tmp_path: Path, abistore: Call, first: Path) -> None:
    held = [(f"{LIB}/libcase.so.1", "libcase.so"), (f"{LIB}/libcase.so", "libcase.so.1")]
    new = members(tmp_path, "case-1.1.tar.gz", [*held, (f"{LIB}/libcase.so.1.1", case(BAD))])
    assert abistore("gate", new).code == 4


@pytest.mark.parametrize(
    ("member", "told"),
    [
        ("usr/lib64/libcase.so.1.0", "libcase lies elsewhere: usr/lib64/libcase.so.1.0, before usr/lib/libcase.so.1.0"),
        (f"{LIB}/case/libcase.so.1", "libcase lies elsewhere"),
        (f"{LIB}/libother.so.1.0", "libcase is in a file of another name: usr/lib/libother.so.1.0"),
    ],
)
def test_a_library_that_moved_is_told(member: str, told: str, tmp_path: Path, abistore: Call, first: Path) -> None:
    new = members(tmp_path, "case-1.1.tar.gz", [(member, case(GOOD))])
    for verb in (("compare", first, new), ("gate", new), ("ingest", new, "--against", "baseline")):
        assert told in " ".join(abistore(*verb).out.split()), verb


@pytest.mark.parametrize("member", [f"{LIB}/libcase.so.1.1", f"{LIB}/libcase.so.1", f"{LIB}/libcase.so"])
def test_a_library_of_another_version_where_it_was_is_not_told(
    member: str, tmp_path: Path, abistore: Call, first: Path
) -> None:
    done = abistore("gate", members(tmp_path, "case-1.1.tar.gz", [(member, case(GOOD))]))
    assert (done.code, "note:" in done.out) == (0, False), done.out


def test_a_folder_that_has_the_version_in_its_name_is_the_same(tmp_path: Path, abistore: Call) -> None:
    old = packages.tar(tmp_path, {"case-1.0/lib/libcase.so.1": case(GOOD)}, name="case-1.0")
    new = packages.tar(tmp_path, {"case-1.1/lib/libcase.so.1": case(GOOD)}, name="case-1.1")
    assert "elsewhere" not in abistore("compare", old, new).out


def test_a_dll_that_is_called_otherwise_is_a_library_less(tmp_path: Path, abistore: Call) -> None:
    made = dll(tmp_path / "1", "case.dll", DLL_ADD)
    old = packages.wheel(tmp_path, {"case/case.dll": made}, version="1.0")
    new = packages.wheel(tmp_path, {"case/other.dll": made}, version="1.1")
    done = abistore("compare", old, new)
    assert done.code == 4 or "is in a file of another name" in done.out, done.out


def split(place: Path, source: str) -> tuple[Path, Path]:
    """A stripped library and its debug information."""
    full = build_library(source, flags=("-g", "-Wl,--build-id=sha1"), soname="libcase.so.1", name="libcase.so")
    place.mkdir()
    stripped, debug = place / "libcase.so.1", place / "libcase.so.1.debug"
    subprocess.run(["objcopy", "--only-keep-debug", full, debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", full, stripped], check=True)
    return stripped, debug


def test_debug_information_of_another_build_is_not_taken(tmp_path: Path, abistore: Call, first: Path) -> None:
    """The old build's debug information would hide that a record changed."""
    bad, _ = split(tmp_path / "bad", HIDDEN_BAD)
    _, good = split(tmp_path / "good", GOOD)
    new = members(tmp_path, "case-1.1.tar.gz", [(f"{LIB}/libcase.so.1.0", bad)])
    debug = members(tmp_path, "case-dbg-1.1.tar.gz", [("usr/lib/debug/usr/lib/libcase.so.1.debug", good)])
    done = abistore("gate", new, "--debug-package", debug)
    assert (done.code, "layout" in done.err) == (72, True), done.out


def test_a_stripped_library_does_not_pass_where_the_old_one_told_more(
    tmp_path: Path, abistore: Call, first: Path
) -> None:
    bad, debug = split(tmp_path / "bad", HIDDEN_BAD)
    new = members(tmp_path, "case-1.1.tar.gz", [(f"{LIB}/libcase.so.1.0", bad)])
    assert abistore("gate", new).code == 72
    symbols = members(tmp_path, "case-dbg-1.1.tar.gz", [("usr/lib/debug/usr/lib/libcase.so.1.debug", debug)])
    done = abistore("gate", new, "--debug-package", symbols)
    assert (done.code, "type_field_added" in done.out) == (4, True), done.out


@pytest.mark.parametrize(("version", "told"), [("1.0", True), ("1.1", False), ("1.1+b1", False)])
def test_headers_of_another_version_are_told(version: str, told: bool, tmp_path: Path, abistore: Call) -> None:
    headers = {"usr/include/case.h": b"struct p; int add(struct p *);\n", f"{LIB}/libcase.so": "libcase.so.1"}
    devel = packages.deb(tmp_path, headers, name="libcase-dev", version=version)
    new = packages.deb(tmp_path, {f"{LIB}/libcase.so.1": case(GOOD)}, name="libcase1", version="1.1")
    sentence = f"headers of libcase-dev {version}, beside libcase1 1.1"
    assert (sentence in abistore("ingest", new, "--devel-package", devel).out) is told
    again = abistore("compare", "libcase@1.1", new, "--new-devel-package", devel)
    assert (sentence in " ".join(again.out.split())) is told, again.out


def test_headers_of_another_project_may_have_another_version(tmp_path: Path, abistore: Call) -> None:
    headers = {"usr/include/other.h": b"int other(void);\n", f"{LIB}/libother.so": "libother.so.3"}
    other = packages.deb(tmp_path, headers, name="libother-dev", version="3.0")
    own = {"usr/include/case.h": b'#include "other.h"\nstruct p; int add(struct p *);\n'}
    devel = packages.deb(tmp_path, {**own, f"{LIB}/libcase.so": "libcase.so.1"}, name="libcase-dev", version="1.1")
    new = packages.deb(tmp_path, {f"{LIB}/libcase.so.1": case(GOOD)}, name="libcase1", version="1.1")
    done = abistore("ingest", new, "--devel-package", devel, "--devel-package", other)
    assert (done.code, "headers of" in done.out) == (0, False), done.out
