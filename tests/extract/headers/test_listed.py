"""What lies beside headers that were given one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.extract.headers import given
from abistore.extract.headers.given import find_headers, listed_folders
from abistore.extract.reader import HeaderOptions
from abistore.files import canonical, confined
from abistore.model.snapshot import HeaderFolder


def files(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("int f(void);\n")
    return folder


def folders(*headers: Path) -> tuple[HeaderFolder, ...]:
    return listed_folders(find_headers(HeaderOptions(headers)))


def test_headers_of_the_folder_are_beside_the_given_ones(tmp_path: Path) -> None:
    files(tmp_path, "a.h", "b.h", "c.hpp", "d.c", "e.inc", "QString", ".f.h", "detail/g.h")
    assert folders(tmp_path / "a.h", tmp_path / "b.h") == (HeaderFolder(("a.h", "b.h"), ("c.hpp",)),)


def test_a_folder_that_was_given_has_nothing_beside(tmp_path: Path) -> None:
    assert folders(files(tmp_path, "a.h")) == ()


def test_what_lies_beside_is_called_as_given_headers_are(tmp_path: Path) -> None:
    files(tmp_path / "geo-1.4", "geo.h", "top.h", "geo/geo.h", "geo/inside.h")
    assert folders(tmp_path / "geo-1.4/geo.h", tmp_path / "geo-1.4/geo/geo.h") == (
        HeaderFolder(("geo.h",), ("top.h",)),
        HeaderFolder(("geo/geo.h",), ("geo/inside.h",)),
    )


def test_a_header_whose_name_no_listing_tells_is_not_listed_as_given(tmp_path: Path) -> None:
    """Its absence would tell nothing: a listing opens no file."""
    files(tmp_path, "a.h", "part.inc")
    assert folders(tmp_path / "a.h", tmp_path / "part.inc") == (HeaderFolder(("a.h",)),)


def test_links_that_lead_nowhere_are_left_out(tmp_path: Path) -> None:
    files(tmp_path, "a.h")
    (tmp_path / "b.h").symlink_to("nowhere.h")
    assert folders(tmp_path / "a.h") == (HeaderFolder(("a.h",)),)


def test_a_folder_of_links_to_elsewhere_is_not_listed(tmp_path: Path) -> None:
    files(tmp_path, "real/a-1.h")
    (tmp_path / "a.h").symlink_to("real/a-1.h")
    assert folders(tmp_path / "a.h") == ()


def test_a_folder_with_too_many_entries_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, "a.h", "b.h", "c.txt")
    monkeypatch.setattr(given, "MOST_LISTED", 3)
    assert folders(tmp_path / "a.h") == (HeaderFolder(("a.h",), ("b.h",)),)
    monkeypatch.setattr(given, "MOST_LISTED", 2)
    assert folders(tmp_path / "a.h") == ()


def test_a_server_lists_only_what_it_may_read(tmp_path: Path) -> None:
    files(tmp_path, "allowed/a.h", "allowed/b.h", "denied/c.h")
    (tmp_path / "allowed/c.h").symlink_to("../denied/c.h")
    given = find_headers(HeaderOptions((tmp_path / "allowed/a.h",)))
    with confined([canonical(tmp_path / "allowed")]):
        assert listed_folders(given) == (HeaderFolder(("a.h",), ("b.h",)),)
    with confined([canonical(tmp_path / "denied")]):
        assert listed_folders(given) == ()
