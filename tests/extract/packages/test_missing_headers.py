"""Headers that include what no searched package has: found in the folder that was given, or named with its package."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from abistore.errors import InputError
from abistore.extract.packages.reader import packages_with
from abistore.model.snapshot import Evidence
from tests import packages
from tests.build import build_library
from tests.extract.packages.test_packages import CASE, snapshots

TEXT = b"#include <glib.h>\n#include <deep/other.h>\nint case_add(gint a, other b);\n"
INDEX = b"""usr/include/glib-2.0/glib.h     libdevel/libglib2.0-dev
usr/include/kit/deep/other.h            devel/kit-dev,libdevel/other-dev
usr/include/kit/deep/other.hpp          devel/none-dev
usr/share/doc/glib.h                    doc/glib-doc
usr/include/name with space/glib.h      libdevel/space-dev
"""


def own(folder: Path, text: bytes = TEXT) -> Path:
    """The development package of the library, in a folder of packages."""
    folder.mkdir(exist_ok=True)
    held = {"usr/include/case.h": text, "usr/lib/libcase.so": "libcase.so.1"}
    packages.deb(folder, held, name="libcase-dev", depends="libcase1 (= 1.0-1)")
    return folder


def source(tmp_path: Path, folder: Path, index: Path | None = None) -> Evidence:
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": build_library(CASE)})
    given = {"package_indexes": (index,)} if index else {}
    (case,) = snapshots(package, devel_packages=(folder,), **given)
    return case.evidence_of("source")


def test_a_package_of_the_folder_is_read_that_has_what_is_missing(tmp_path: Path) -> None:
    """Nothing says that it is needed but the headers; what it needs itself is found alike."""
    folder = own(tmp_path / "pool")
    glib = {"usr/include/glib-2.0/glib.h": b"#include <glibconfig.h>\ntypedef config_int gint;"}
    packages.deb(folder, glib, name="libglib2.0-dev")
    config = {"usr/lib/x86_64-linux-gnu/glib-2.0/include/glibconfig.h": b"typedef int config_int;"}
    packages.deb(folder, config, name="libglib2.0-config-dev")
    packages.deb(folder, {"usr/include/kit/deep/other.h": b"typedef int other;"}, name="kit-dev")
    packages.deb(folder, {"usr/include/stray.h": b"#error never read"}, name="stray-dev")
    found = source(tmp_path, folder)
    assert (found.state, found.expected) == ("full", 1), found.detail


def test_a_package_that_was_given_is_searched_below_its_include_folder(tmp_path: Path) -> None:
    """It has no ``.pc`` file that names the folder."""
    text = b"#include <other.h>\nint case_add(other a, other b);"
    devel = packages.deb(tmp_path, {"usr/include/case.h": text, "usr/lib/libcase.so": "libcase.so.1"}, name="a-dev")
    other = packages.deb(tmp_path, {"usr/include/kit-1/other.h": b"typedef int other;"}, name="b-dev")
    (case,) = snapshots(build_library(CASE), devel_packages=(devel, other))
    assert case.evidence_of("source").state == "full"


@pytest.mark.parametrize("packed", [bytes, gzip.compress, lzma.compress])
def test_an_index_names_the_package_that_has_a_missing_file(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    index = tmp_path / "Contents-amd64"
    index.write_bytes(packed(INDEX))
    found = source(tmp_path, own(tmp_path / "pool"), index)
    assert found.state == "missing"
    assert found.lacks == ("deep/other.h", "glib.h")
    assert found.hint == (
        "pass the missing headers with --devel-package: kit-dev or other-dev (deep/other.h), libglib2.0-dev (glib.h)"
    )


def test_an_index_in_the_folder_is_no_package_and_is_asked(tmp_path: Path) -> None:
    folder = own(tmp_path / "pool", TEXT + b"#include <nowhere.h>\n")
    (folder / "Contents-amd64.gz").write_bytes(gzip.compress(INDEX))
    hint = source(tmp_path, folder).hint
    assert "libglib2.0-dev (glib.h)" in hint
    assert hint.endswith("; no known package contains nowhere.h")


def test_a_file_that_many_headers_miss_is_told_once(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    many = {f"usr/include/case{number}.h": TEXT for number in range(30)}
    whole = {"usr/include/case.h": b"int case_add(int a, int b);", "usr/lib/libcase.so": "libcase.so.1"}
    packages.deb(folder, {**many, **whole}, name="libcase-dev", depends="libcase1 (= 1.0-1)")
    found = source(tmp_path, folder)
    assert found.state == "partial"
    assert found.lacks == ("deep/other.h", "glib.h")
    assert found.detail.count("file not found") == 1, found.detail
    assert found.detail.startswith("30 headers do not parse and are left out: ")


def test_a_folder_that_hides_headers_of_the_system_is_searched_behind_it(tmp_path: Path) -> None:
    """Headers name a file below ``kit``, which has a ``stdio.h`` too: programs do not get that one."""
    text = b"#include <stdio.h>\n#include <inner/part.h>\nint case_add(part a, part b);\nint case_file(FILE *file);"
    held = {
        "usr/include/case.h": text,
        "usr/include/kit/inner/part.h": b"typedef int part;",
        "usr/include/kit/stdio.h": b"#error not the system's",
        "usr/lib/libcase.so": "libcase.so.1",
    }
    devel = packages.deb(tmp_path, held, name="libcase-dev")
    (case,) = snapshots(build_library(CASE), devel_packages=(devel,))
    assert "case.h" not in case.evidence_of("source").detail
    assert case.evidence_of("source").detail.startswith("1 header does not parse and is left out: kit/stdio.h")


def test_an_index_that_lz4_compressed_is_refused(tmp_path: Path) -> None:
    index = tmp_path / "Contents-amd64.lz4"
    index.write_bytes(b"\x04\x22\x4d\x18rest")
    with pytest.raises(InputError, match="lz4"):
        packages_with(["glib.h"], [index])


def test_lines_are_whole_where_an_index_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abistore.extract.packages.reader._PIECE", 7)
    index = tmp_path / "Contents-amd64"
    index.write_bytes(INDEX.rstrip(b"\n"))
    found = packages_with(["glib.h", "deep/other.h", "lib.h"], [index])
    assert found == {"glib.h": ("libglib2.0-dev",), "deep/other.h": ("kit-dev", "other-dev"), "lib.h": ()}
