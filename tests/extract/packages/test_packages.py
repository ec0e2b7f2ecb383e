from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.errors import InputError, UsageError
from abistore.extract.capture import read_all
from abistore.extract.files import open_input
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import PackageRead, Snapshot
from tests import packages
from tests.build import build_library

CASE = "int case_add(int a, int b) { return a + b; }"
OTHER = "int other_add(int a) { return a; }"


def snapshots(path: Path, **options: object) -> list[Snapshot]:
    with open_input(path) as file:
        return sorted(read_all(file, ExtractOptions(**options)), key=lambda each: each.library)  # type: ignore[arg-type]


def told(snapshot: Snapshot) -> PackageRead:
    assert isinstance(snapshot.provenance.package, PackageRead)
    return snapshot.provenance.package


@pytest.fixture
def files() -> dict[str, Path | bytes | str]:
    """Two libraries with the links that lead to one, a script, a plugin, a text and an archive of objects."""
    return {
        "usr/lib/libcase.so.1.2": build_library(CASE),
        "usr/lib/libcase.so.1": "libcase.so.1.2",
        "usr/lib/libcase.so": "libcase.so.1",
        "usr/lib/odd-name": build_library(OTHER, soname="libother.so.3"),
        "usr/lib/plugins/extra.so": build_library(OTHER, soname=None),
        "usr/bin/case": b"#!/bin/sh\n",
        "usr/lib/libcase.a": b"!<arch>\n",
        "usr/share/doc/readme": b"text",
    }


MAKERS: dict[str, Callable[[Path, packages.Files], Path]] = {
    **{
        f"deb-{name}": lambda place, files, name=name: packages.deb(place, files, compression=name)
        for name in ("none", "gzip", "xz", "zstd")
    },
    **{
        f"tar-{name}": lambda place, files, name=name: packages.tar(place, files, compression=name)
        for name in packages.COMPRESSIONS
    },
    "conda": packages.conda,
    "folder": lambda place, files: packages.folder(place / "root", files),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_each_library_of_a_package_is_read_once_whatever_links_lead_to_it(
    kind: str, files: packages.Files, tmp_path: Path
) -> None:
    case, other = snapshots(MAKERS[kind](tmp_path, files))
    assert (case.library, case.exports, told(case).member) == ("libcase", 1, "usr/lib/libcase.so.1.2")
    assert (other.library, other.exports) == ("libother", 1)  # by its SONAME
    assert told(case).left_out == ("usr/lib/plugins/extra.so (plugin)",)


@pytest.mark.parametrize(
    ("kind", "version"),
    [("deb-xz", "1.0-1"), ("conda", "1.0"), ("tar-gz", "1.0"), ("tar-", "1.0"), ("folder", None)],
)
def test_the_version_is_the_package_s(kind: str, version: str | None, files: packages.Files, tmp_path: Path) -> None:
    package = MAKERS[kind](tmp_path, files)
    assert {each.version for each in snapshots(package)} == {version}
    assert {each.version for each in snapshots(package, version="7")} == {"7"}


def test_a_package_of_rpmbuild_is_read() -> None:
    (case,) = snapshots(packages.RPM)
    assert (case.library, case.version, case.exports) == ("libcase", "1.0-1", 1)
    left_out, digest = ("usr/bin/case (program)",), sha256(packages.RPM.read_bytes()).hexdigest()
    member = "usr/lib64/libcase.so.1.0"
    expected = PackageRead(packages.RPM.name, "libcase", "1.0-1", member, left_out, digest, 1)
    depends = ("rtld(GNU_HASH)",)
    own = replace(expected, loaded_as=("libcase.so.1",), source="libcase", architecture="x86_64", depends=depends)
    assert told(case) == own


def test_a_wheel_has_copies_where_others_have_links(tmp_path: Path) -> None:
    library = build_library(CASE)
    held = {
        "case/libcase.so": library,
        "case/libcase.so.1": library,
        "case/_case.cpython-311-x86_64-linux-gnu.so": build_library(OTHER, soname=None),
        "case.libs/libother-0a1b2c3d.so.2": build_library(OTHER, soname="libother-0a1b2c3d.so.2"),
    }
    case, other = snapshots(packages.wheel(tmp_path, held))
    assert (case.library, case.version, told(case).member) == ("libcase", "1.0", "case/libcase.so")
    assert (other.library, told(other).member) == ("libother", "case.libs/libother-0a1b2c3d.so.2")
    assert told(case).left_out == ("case/_case.cpython-311-x86_64-linux-gnu.so (plugin)",)


@pytest.mark.parametrize("pattern", ["libcase", "libcase.so*", "usr/lib/libc*"])
def test_a_pattern_picks_libraries(pattern: str, files: packages.Files, tmp_path: Path) -> None:
    assert [each.library for each in snapshots(packages.tar(tmp_path, files), only=(pattern,))] == ["libcase"]


def test_a_pattern_takes_what_is_left_out_otherwise(files: packages.Files, tmp_path: Path) -> None:
    assert [each.library for each in snapshots(packages.tar(tmp_path, files), only=("extra.so",))] == ["extra"]
    with pytest.raises(InputError, match=r"contains no shared library that matches nothing\*"):
        snapshots(packages.tar(tmp_path, files), only=("nothing*",))


def test_a_package_without_libraries_says_what_was_left_out(tmp_path: Path) -> None:
    held = {"plugins/extra.so": build_library(OTHER, soname=None)}
    with pytest.raises(InputError, match=r"contains no shared library; left out: plugins/extra.so \(plugin\)"):
        snapshots(packages.tar(tmp_path, held))


@pytest.mark.parametrize(
    ("file", "soname", "is_library"),
    [
        ("extra.so", "extra.so", False),
        ("extra-1.2.so", "extra-1.2.so", False),
        ("extra.so", "libextra.so", True),
        ("extra.so", "extra.so.2", True),
        ("ld-extra.so.2", "ld-extra.so.2", True),
        ("libextra.so", "extra.so", True),
    ],
)
def test_a_soname_that_programs_do_not_link_to_makes_no_library(
    tmp_path: Path, file: str, soname: str, *, is_library: bool
) -> None:
    held = {f"plugins/{file}": build_library(OTHER, soname=soname), "usr/lib/libcase.so": build_library(CASE)}
    found = snapshots(packages.tar(tmp_path, held))
    assert (len(found) == 2) == is_library
    assert any("(plugin)" in each for each in told(found[0]).left_out) == (not is_library)


def test_several_libraries_have_no_one_name(files: packages.Files, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains 2 libraries, but --library gives them one name"):
        snapshots(packages.tar(tmp_path, files), library="libfoo")


def test_debug_information_comes_from_a_debug_package_by_build_id(tmp_path: Path) -> None:
    full = build_library(CASE, flags=("-g", "-Wl,--build-id=sha1"))
    stripped, debug = split(full, tmp_path)
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": stripped})
    build_id = snapshots(full)[0].provenance.build_id
    assert build_id
    path = f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
    symbols = packages.deb(tmp_path, {path: debug}, name="libcase1-dbgsym")
    (bare,), (case,) = snapshots(package), snapshots(package, debug_packages=(symbols,))
    assert bare.evidence_of("layout").state == "missing"
    assert (case.evidence_of("layout").state, case.evidence_of("layout").source) == ("full", "debug-package")
    (alone,) = snapshots(stripped, debug_packages=(symbols,))  # a library outside of packages
    assert alone.evidence_of("layout").state == "full"
    assert alone.provenance.package is not case.provenance.package


@pytest.mark.full
def test_common_parts_that_dwz_moved_come_from_the_debug_package_too(tmp_path: Path) -> None:
    """Debian's debug packages of several libraries have them in ``usr/lib/debug/.dwz``."""
    sources = {"libcase.so.1": CASE, "libother.so.3": f"{CASE} {OTHER}"}
    built = {
        name: build_library(text, soname=name, flags=("-g", "-Wl,--build-id=sha1")) for name, text in sources.items()
    }
    full = [Path(shutil.copy(library, tmp_path / name)) for name, library in built.items()]
    moved, common = "usr/lib/debug/.dwz/x86_64-linux-gnu/libcase1.debug", tmp_path / "common.debug"
    subprocess.run(["dwz", f"-m{common}", f"-M/{moved}", *full], check=True)  # before they are split, as dh_dwz does
    held, debug = dict[str, Path | bytes | str](), dict[str, Path | bytes | str]()
    for name, each in zip(built, full, strict=True):
        (tmp_path / name[3:]).mkdir()
        held[f"usr/lib/{name}"], symbols = split(each, tmp_path / name[3:])
        build_id = snapshots(built[name])[0].provenance.build_id
        assert build_id
        debug[f"usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"] = symbols
        sections = subprocess.run(["readelf", "-SW", symbols], capture_output=True, text=True, check=True).stdout
        assert ".gnu_debugaltlink" in sections
    package = packages.deb(tmp_path, held)
    whole_debug = packages.deb(tmp_path, {**debug, moved: common}, name="libcase1-dbgsym")
    for library, found in zip(built.values(), snapshots(package, debug_packages=(whole_debug,)), strict=True):
        (whole,) = snapshots(library)
        assert found.evidence_of("layout").source == "debug-package"
        assert found.entries["layout"] == whole.entries["layout"]
    without = packages.deb(tmp_path, debug, name="libcase1-dbg")
    reasons = {each.evidence_of("layout").reason for each in snapshots(package, debug_packages=(without,))}
    assert reasons == {"alternate-file-missing"}


def split(library: Path, place: Path) -> tuple[Path, Path]:
    """A library without its debug information, and that."""
    stripped, debug = place / "libcase.so.1", place / "libcase.debug"
    subprocess.run(["objcopy", "--only-keep-debug", library, debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", library, stripped], check=True)
    return stripped, debug


def test_headers_come_from_a_development_package_for_the_library_that_it_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    other = build_library(OTHER, soname="libother.so.3")
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": build_library(CASE), "usr/lib/libother.so.3": other})
    headers = {
        "usr/include/case.h": b'#include "case/config.h"\nint case_add(int a, int b);\n',
        "usr/include/x86_64-linux-gnu/case/config.h": b"#define CASE_LIMIT 3\n",
        "usr/lib/libcase.so": "libcase.so.1",
    }
    devel = packages.deb(tmp_path, headers, name="libcase-dev")
    case, second = snapshots(package, devel_packages=(devel,))
    assert case.evidence_of("source").state == "full"
    assert not [each for each in case.locations.values() if each.file.startswith(("/", "usr"))]
    assert second.evidence_of("source").state == "missing"
    assert list(temporary.iterdir()) == []


def test_a_wheel_is_its_own_development_package(tmp_path: Path) -> None:
    held = {"case/libcase.so": build_library(CASE), "case/include/case.h": b"int case_add(int a, int b);\n"}
    package = packages.wheel(tmp_path, held)
    assert snapshots(package)[0].evidence_of("source").state == "missing"
    assert snapshots(package, devel_packages=(package,))[0].evidence_of("source").state == "full"


def test_a_development_package_without_headers_leaves_what_the_library_tells(
    files: packages.Files, tmp_path: Path
) -> None:
    package = packages.tar(tmp_path, files)
    reasons = {each.evidence_of("source").reason for each in snapshots(package, devel_packages=(package,))}
    assert reasons <= {"devel-package-without-headers", "devel-package-not-for-this-library"}
    assert "devel-package-without-headers" in reasons
