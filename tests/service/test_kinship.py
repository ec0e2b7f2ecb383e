"""Two libraries that are compared by mistake are told apart by their names; releases of one library are not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from abistore.report.model import Report
from abistore.report.outline import outline
from abistore.service.comparing import strangers
from tests.report.comparisons import comparison


def between(old: tuple[str, str | None, str | None], new: tuple[str, str | None, str | None]) -> Report:
    """A report about two sides, each a library, its version and its SONAME."""
    report = outline(comparison())
    sides = (
        replace(side, library=name, version=version, soname=soname)
        for side, (name, version, soname) in zip((report.old, report.new), (old, new), strict=True)
    )
    before, after = sides
    return replace(report, old=before, new=after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("libz", None, "libz.so.1"), ("liblzma", None, "liblzma.so.5")),
        (("libgeo", "1.0", None), ("libother", "1.0", None)),
        (("libgeo", "1.0", None), ("libz", None, "libz.so.1")),
        (("lib2geom", None, "lib2geom.so.1"), ("lib3geom", None, "lib3geom.so.1")),
    ],
)
def test_libraries_of_other_names_are_strangers(
    old: tuple[str, str | None, str | None], new: tuple[str, str | None, str | None]
) -> None:
    said = strangers(between(old, new))
    assert all((soname or name) in said for name, _, soname in (old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("libz", None, "libz.so.1"), ("libz", None, "libz.so.2")),
        (("libpng12", None, "libpng12.so.0"), ("libpng16", None, "libpng16.so.16")),
        (("libglib-1.2", None, "libglib-1.2.so.0"), ("libglib-2.0", None, "libglib-2.0.so.0")),
        (("libfoo_1", None, "libfoo_1.so"), ("libfoo_2", None, "libfoo_2.so")),
        (("old", None, None), ("new", None, None)),
        (("old", None, None), ("libz", None, "libz.so.1")),
        (("ours", "1.0", "libz.so.1"), ("ours", "2.0", "libzz.so.1")),
        (("libz", "1.0", "libz.so.1"), ("libz-debug", "1.0", "libz.so.1")),
    ],
)
def test_releases_of_one_library_are_not(
    old: tuple[str, str | None, str | None], new: tuple[str, str | None, str | None]
) -> None:
    assert strangers(between(old, new)) == ""
