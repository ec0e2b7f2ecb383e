"""Which headers lie beside those that are given one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.confinement import canonical, confined
from abistore.extract.headers.given import find_headers
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.headers.texts.beside import MOST, together
from abistore.model.snapshot import HeadersTogether


def lay(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("int geo(int);\n")
    return folder


def found(*paths: Path, private: tuple[str, ...] = ()) -> tuple[HeadersTogether, ...]:
    return together(find_headers(HeaderOptions(paths, private=private)))


def test_headers_of_the_same_folder_are_told_and_nothing_else(tmp_path: Path) -> None:
    lay(tmp_path, "a.h", "c.h", "b.hpp", "README", "main.c", "inner/d.h")
    (tmp_path / "folder.h").mkdir()
    assert found(tmp_path / "a.h") == (HeadersTogether(("a.h",), ("b.hpp", "c.h")),)
    assert found(tmp_path / "c.h", tmp_path / "a.h") == (HeadersTogether(("a.h", "c.h"), ("b.hpp",)),)


def test_a_folder_tells_nothing_of_the_kind(tmp_path: Path) -> None:
    assert found(lay(tmp_path, "a.h", "b.h")) == ()


def test_each_folder_is_told_by_itself_and_as_its_headers_are_called(tmp_path: Path) -> None:
    lay(tmp_path, "geo.h", "all.h", "geo/geo.h", "geo/point.h")
    assert found(tmp_path / "geo.h", tmp_path / "geo" / "geo.h") == (
        HeadersTogether(("geo.h",), ("all.h",)),
        HeadersTogether(("geo/geo.h",), ("geo/point.h",)),
    )


def test_a_header_that_only_includes_others_has_its_own_folder_alone(tmp_path: Path) -> None:
    lay(tmp_path, "b.h", "geo/point.h")
    (tmp_path / "geo.h").write_text('#include "geo/point.h"\n')
    assert found(tmp_path / "geo.h") == (HeadersTogether(("geo.h",), ("b.h",)),)


@pytest.mark.parametrize(("count", "told"), [(MOST, True), (MOST + 1, False)])
def test_of_a_folder_of_many_libraries_nothing_is_kept(count: int, told: bool, tmp_path: Path) -> None:
    lay(tmp_path, *(f"h{number}.h" for number in range(count)))
    assert bool(found(tmp_path / "h0.h")) is told


def test_a_link_counts_where_it_leads_to_a_header_that_may_be_read(tmp_path: Path) -> None:
    inside, outside = lay(tmp_path / "include", "a.h", "b.h"), lay(tmp_path / "private", "secret.h")
    (inside / "good.h").symlink_to(inside / "b.h")
    (inside / "secret.h").symlink_to(outside / "secret.h")
    (inside / "nowhere.h").symlink_to(inside / "missing.h")
    assert found(inside / "a.h") == (HeadersTogether(("a.h",), ("b.h", "good.h", "secret.h")),)
    with confined([canonical(inside)]):
        assert found(inside / "a.h") == (HeadersTogether(("a.h",), ("b.h", "good.h")),)
