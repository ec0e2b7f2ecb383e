"""On a terminal: colour unless switched off, and a bar for who waits; nothing of that in a pipe."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from abistore.cli import output as bar
from abistore.cli.main import run
from abistore.cli.options import SharedSettings
from abistore.model.history import IngestRequest
from abistore.store.store import Store
from benchmarks.releases import made
from tests.build import build_library
from tests.cli.conftest import OLD, Call

pytestmark = pytest.mark.full


def on_a_terminal(*words: str | Path, **environment: str) -> str:
    """What a call prints to a terminal."""
    reading, writing = pty.openpty()
    call = [sys.executable, "-m", "abistore", *map(str, words)]
    process = subprocess.Popen(call, stdout=writing, stderr=writing, env={**os.environ, "TERM": "xterm", **environment})
    os.close(writing)
    printed = b""
    while True:
        try:
            chunk = os.read(reading, 65536)
        except OSError:  # how a pseudo-terminal says that its last writer has left
            break
        printed += chunk
    os.close(reading)
    process.wait()
    return printed.decode()


def test_colour_is_for_terminals(old: Path, new: Path, process: Call) -> None:
    assert "\x1b[1;31mBREAKING" in on_a_terminal("compare", old, new)
    assert "\x1b[" not in on_a_terminal("compare", old, new, NO_COLOR="1")
    assert "\x1b[" in on_a_terminal("compare", old, new, NO_COLOR="")
    assert "\x1b[" not in on_a_terminal("compare", old, new, TERM="dumb")
    assert "\x1b[" not in process("compare", old, new).out


@pytest.mark.parametrize(
    ("words", "environment", "piped", "on_terminal"),
    [
        ((), {}, False, True),
        ((), {"FORCE_COLOR": "1"}, True, True),
        ((), {"FORCE_COLOR": "0"}, True, True),
        ((), {"FORCE_COLOR": ""}, False, True),
        ((), {"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ((), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ((), {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False, False),
        ((), {"CLICOLOR_FORCE": "1"}, True, True),
        ((), {"CLICOLOR_FORCE": "0"}, False, True),
        ((), {"CLICOLOR": "0"}, False, False),
        ((), {"CLICOLOR": "1"}, False, True),
        ((), {"CLICOLOR": "0", "FORCE_COLOR": "1"}, True, True),
        ((), {"TERM": "dumb"}, False, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False, False),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, True, True),
    ],
)
def test_an_option_wins_over_the_environment_and_that_over_the_terminal(
    old: Path,
    new: Path,
    process: Call,
    words: tuple[str, ...],
    environment: dict[str, str],
    piped: bool,
    on_terminal: bool,
) -> None:
    command = ("compare", old, new, *words)
    assert ("\x1b[" in process(*command, **environment).out) is piped
    assert ("\x1b[" in on_a_terminal(*command, **{"TERM": "xterm", **environment})) is on_terminal


def test_a_file_has_no_colours_whatever_is_forced(old: Path, new: Path, process: Call, tmp_path: Path) -> None:
    process("compare", old, new, "-o", tmp_path / "report.txt", "--color", "always")
    assert "\x1b[" not in (tmp_path / "report.txt").read_text()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_a_bar_and_short_work_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(patience: float) -> str:
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(bar, "PATIENCE", patience)
        with bar.progress(SharedSettings()) as advance:
            assert advance is not None
            advance("libone.so", 0.25)
            assert "None" not in terminal.getvalue()
            advance("libtwo.so", 0.5)
        return terminal.getvalue()

    assert shown(patience=3600) == ""
    long = shown(patience=0)
    assert re.search(r"50%.*libtwo\.so", long)


@pytest.mark.parametrize("settings", [SharedSettings(json=True), SharedSettings(verbosity=-1)])
def test_nobody_watches_a_quiet_call(monkeypatch: pytest.MonkeyPatch, settings: SharedSettings) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar.progress(settings) as advance:
        assert advance is None


def test_the_bar_moves_with_the_units_of_a_library(
    monkeypatch: pytest.MonkeyPatch, old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {f"more{number}.c": f"int more{number}(void) {{ return {number}; }}\n" for number in range(4)}
    library = build_library(OLD, flags=("-g", *more), files=more)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(bar, "PATIENCE", 0)
    for words in (["export", str(library)], ["show", str(library)]):
        terminal.truncate(0)
        assert run(words) == 0
        assert shown_parts(terminal) == ["0%", "20%", "40%", "60%", "80%", "100%"]
    terminal.truncate(0)
    assert run(["compare", str(library), str(old)]) == 4
    assert shown_parts(terminal) == ["0%", "10%", "20%", "30%", "40%", "50%", "100%"]
    terminal.truncate(0)
    assert run(["compare", str(library), str(old), "-q"]) == 4
    assert terminal.getvalue() == ""


def test_the_bar_of_a_history_moves_with_its_releases(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "store.db"
    with Store.open(database, write=True) as store:
        for number in range(1, 6):
            store.ingest(made(number, 20), IngestRequest(f"1.{number}"))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(bar, "PATIENCE", 0)
    assert run(["history", "growing", "--db", str(database)]) == 0
    assert shown_parts(terminal) == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert "growing 1.5" in terminal.getvalue()


def shown_parts(terminal: Terminal) -> list[str]:
    """The percentages that a bar has gone through."""
    return list(dict.fromkeys(re.findall(r"\d+%", terminal.getvalue())))


def test_a_report_says_in_plain_letters_what_the_encoding_lacks(process: Call, old: Path, new: Path) -> None:
    done = process("compare", old, new, "--format", "markdown", PYTHONIOENCODING="latin-1")
    assert "-> libcase" in done.out
    assert "### * Breaking" in done.out
    assert "\\u" not in done.out


def test_a_file_name_that_is_no_text_is_shown_by_its_bytes(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/lib\xff.so"
    done = subprocess.run([sys.executable, "-m", "abistore", "export", name], capture_output=True)
    assert done.returncode == 65
    assert b"lib\\xff.so: no such file" in done.stderr
