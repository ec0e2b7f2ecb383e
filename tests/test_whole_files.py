"""Files that are written completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from abistore.files import write_whole


def test_a_file_takes_the_place_of_the_one_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")
    write_whole(path, (b"af", b"ter"))
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_of_255_letters_has_room_for_its_draft(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 255), (b"whole",))
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"whole"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_cannot_be_finished_leaves_all_as_it_was(tmp_path: Path, error: type[BaseException]) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise error

    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(error):
        write_whole(path, pieces())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_who_may_read_it_is_what_the_umask_says(tmp_path: Path) -> None:
    (plain := tmp_path / "plain").write_bytes(b"")
    write_whole(tmp_path / "whole", (b"",))
    assert (tmp_path / "whole").stat().st_mode == plain.stat().st_mode
