"""The items of manifests, folders and single files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from abistore.archive.items import Item, listed_items
from abistore.archive.repositories import items_of
from abistore.errors import InputError, UsageError
from abistore.service.ingest_gates import IngestPlan
from tests.build import build_library

pytestmark = pytest.mark.fast

SOURCE = "int f(void) { return 1; }\n"


def listed(text: str) -> list[Item]:
    return list(listed_items(text, "list", Path("archive")))


def test_a_line_has_a_path_a_version_and_what_is_said_about_the_file() -> None:
    (item,) = listed("lib/libfoo.so 1.2 library=libfoo profile=musl revision=4f2a headers=include released=2026-02-01")
    assert item == Item(
        Path("archive/lib/libfoo.so"),
        "1.2",
        "libfoo",
        "musl",
        ("archive/include",),
        revision="4f2a",
        released=datetime(2026, 2, 1, tzinfo=UTC),
    )


def test_words_are_quoted_as_in_a_shell_and_comments_and_empty_lines_are_left_out() -> None:
    items = listed("# all of them\n\n'my lib.so' 1 # one\nother.deb debug=a debug=b\n")
    assert [(each.path.name, each.version) for each in items] == [("my lib.so", "1"), ("other.deb", None)]
    assert items[1].debug == (Path("archive/a"), Path("archive/b"))


def test_headers_may_name_their_library() -> None:
    (item,) = listed("all.deb headers=libfoo=include/foo headers=include/all")
    assert item.headers == ("libfoo=archive/include/foo", "archive/include/all")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a.so 1 libary=libfoo", "library"),
        ("a.so 1 2", "PATH VERSION"),
        ("a.so 1 profile=a profile=b", "once"),
        ("a.so 1 released=yesterday", "PATH VERSION"),
        ("'a.so", "PATH VERSION"),
        ("a.so 1 profile=", "unset"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(line: str, said: str) -> None:
    with pytest.raises(UsageError, match="list: line 2") as failed:
        listed(f"good.so 1\n{line}\n")
    assert said in failed.value.hint


def test_an_item_has_its_own_words_and_the_others_of_the_run() -> None:
    whole = IngestPlan(profile="debug", tags=("lts",), revision="1")
    plan = Item(Path("a.so"), "1.2", library="libfoo", revision="2").plan(whole)
    assert (plan.version, plan.library, plan.profile, plan.revision, plan.tags) == (
        "1.2",
        "libfoo",
        "debug",
        "2",
        ("lts",),
    )
    assert (plan.options.version, plan.options.library) == ("1.2", "libfoo")


def test_a_folder_has_its_libraries_and_no_links_programs_or_debug_files(tmp_path: Path) -> None:
    library = build_library(SOURCE).read_bytes()
    for name in ("libb.so.1.0", "deep/liba.so.2", ".hidden/libc.so.1", "program", "usr/lib/debug/libb.so", "x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(library if name != "x.txt" else b"text")
    (tmp_path / "libb.so").symlink_to("libb.so.1.0")
    found = [each.path.relative_to(tmp_path).as_posix() for each in items_of([tmp_path]).items]
    assert found == ["libb.so.1.0", "deep/liba.so.2"]


def test_a_file_is_an_item_and_any_other_is_a_manifest(tmp_path: Path) -> None:
    library = tmp_path / "liba.so.1"
    library.write_bytes(build_library(SOURCE).read_bytes())
    manifest = tmp_path / "list"
    manifest.write_text("liba.so.1 1.0\n")
    assert items_of([library]).items == (Item(library),)
    assert items_of([manifest]).items == (Item(library, "1.0"),)


def test_a_library_of_any_name_is_an_item_and_other_binary_data_are_an_error(tmp_path: Path) -> None:
    plugin, data = tmp_path / "plugin.so", tmp_path / "data"
    plugin.write_bytes(b"\x7fELF and no more")
    data.write_bytes(bytes(100))
    assert [each.path for each in items_of([plugin]).items] == [plugin]
    with pytest.raises(InputError, match="neither a manifest nor a library"):
        items_of([data])


def test_an_item_that_two_sources_list_is_one(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text("liba.so.1 1.0\n")
    assert len(items_of([tmp_path / "one", tmp_path / "two"]).items) == 1


def test_sources_without_any_item_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no library"):
        items_of([tmp_path])
