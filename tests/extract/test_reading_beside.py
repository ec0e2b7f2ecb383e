"""A file that is read beside another gives what reading it alone gives, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from abistore.errors import ExtractError, HeaderError
from abistore.extract import bounded
from abistore.extract.bounded import read_beside, read_bounded
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.snapshot import Snapshot
from tests.build import build_library

SOURCE = "struct point { int x, y; }; int norm(struct point *p) { return p->x; }"
PLAIN = ExtractOptions()


@pytest.fixture(autouse=True)
def copies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that were made; the runner's threads do not matter."""
    made: list[int] = []
    fork = os.fork

    def forked() -> int:
        made.append(fork())
        return made[-1]

    monkeypatch.setattr(os, "fork", forked)
    monkeypatch.setattr(bounded, "_has_idle_core", lambda: True)
    monkeypatch.setattr(bounded, "may_fork", lambda: True)
    return made


@pytest.fixture
def library() -> Path:
    return build_library(SOURCE)


def read(path: Path, options: ExtractOptions = PLAIN) -> tuple[Snapshot, ...]:
    with InputFile(path) as file, read_beside(file, options, 1) as found:
        return found()


def are_gone(processes: list[int]) -> bool:
    """Whether all have ended and were waited for."""
    return bool(processes) and not any(Path(f"/proc/{each}").exists() for each in processes)


@pytest.mark.parametrize("source", [SOURCE, "struct s { int a : 3; double d[4]; union { int i; float f; } u; } v;"])
def test_it_reads_what_reading_alone_reads(source: str, copies: list[int]) -> None:
    path = build_library(source)
    with InputFile(path) as file:
        alone = read_bounded(file, PLAIN)
    assert read(path) == alone
    assert are_gone(copies)


def test_cpp_types_and_headers_come_over(tmp_path: Path, copies: list[int]) -> None:
    header = "#include <string>\nnamespace n { struct S { std::string s; virtual ~S(); }; S make(int = 3); }\n"
    (tmp_path / "api.hpp").write_text(header)
    path = build_library(f"{header}n::S::~S() {{}} n::S n::make(int) {{ return {{}}; }}", language="c++")
    options = ExtractOptions(headers=HeaderOptions((tmp_path,)))
    with InputFile(path) as file:
        alone = read_bounded(file, options)
    assert read(path, options) == alone
    assert alone[0].entries["source"]
    assert are_gone(copies)


def test_an_error_comes_back_as_it_was_raised(tmp_path: Path, library: Path, copies: list[int]) -> None:
    cut = tmp_path / "cut.so"
    cut.write_bytes(library.read_bytes()[:4000])
    with pytest.raises(ExtractError) as alone, InputFile(cut) as file:
        read_bounded(file, PLAIN)
    with pytest.raises(ExtractError) as told:
        read(cut)
    assert (told.value.message, told.value.hint) == (alone.value.message, alone.value.hint)
    with pytest.raises(HeaderError, match="no such header"):
        read(library, ExtractOptions(headers=HeaderOptions((tmp_path / "missing",))))
    assert are_gone(copies)


def test_where_the_copy_is_killed_the_file_is_read_here(library: Path, copies: list[int]) -> None:
    with InputFile(library) as file, read_beside(file, PLAIN, 1) as found:
        os.kill(copies[0], signal.SIGKILL)
        os.waitid(os.P_PID, copies[0], os.WEXITED | os.WNOWAIT)
        again = found()
    assert again == read(library)
    assert are_gone(copies)


def test_where_no_further_process_is_allowed_the_file_is_read_here(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> int:
        raise BlockingIOError("no further process")

    monkeypatch.setattr(os, "fork", refused)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with InputFile(library) as file:
        alone = read_bounded(file, PLAIN)
    assert read(library) == alone
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_defect_of_ours_is_not_hidden(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
        raise ZeroDivisionError(file.path.name)

    monkeypatch.setattr(bounded, "read_bounded", broken)
    with pytest.raises(ZeroDivisionError, match=library.name):
        read(library)


def test_an_error_of_the_body_ends_the_copy(library: Path, copies: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt), InputFile(library) as file, read_beside(file, PLAIN, 1):
        raise KeyboardInterrupt
    assert are_gone(copies)


def test_interrupts_are_for_the_original(library: Path, copies: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
        if os.getpid() != original:
            os.kill(os.getpid(), signal.SIGINT)
        return read_bounded(file, options)

    original = os.getpid()
    monkeypatch.setattr(bounded, "read_bounded", interrupted)
    with InputFile(library) as file:
        alone = read_bounded(file, PLAIN)
    assert read(library) == alone
    assert are_gone(copies)


def test_what_unpacks_or_downloads_is_never_ended(library: Path, copies: list[int]) -> None:
    for options in (ExtractOptions(debuginfod=True), ExtractOptions(debug_packages=(library,))):
        with InputFile(library) as file, read_beside(file, options, 1):
            assert not copies


@pytest.mark.parametrize(("alone", "idle"), [(False, True), (True, False)])
def test_a_process_with_threads_or_without_an_idle_core_is_not_copied(
    alone: bool, idle: bool, library: Path, copies: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "may_fork", lambda: alone)
    monkeypatch.setattr(bounded, "_has_idle_core", lambda: idle)
    assert read(library)
    assert not copies
