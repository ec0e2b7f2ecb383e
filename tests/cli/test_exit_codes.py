"""Every documented exit code is the answer to a real call, and no other codes are."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from abistore import errors
from tests.build import build_library
from tests.cli.conftest import OLD, Call

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"
DOCUMENTED = {
    int(code): name for code, name in re.findall(r"^\| (\d+) \| ([\w -]+) \|", DOCUMENT.read_text(), re.MULTILINE)
}


def test_the_table_names_the_codes_of_all_errors() -> None:
    kinds = [errors.AbistoreError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert {kind.exit_code for kind in kinds} <= set(DOCUMENTED)
    assert {DOCUMENTED[kind.exit_code] for kind in kinds} <= {kind.code for kind in kinds}


def test_zero_when_nothing_breaks(process: Call, old: Path, added: Path) -> None:
    assert process("compare", old, added).code == 0
    assert process("compare", old, old).code == 0


def test_two_when_some_sources_stop_compiling(process: Call) -> None:
    source = "class Geo {{ {access}: int area(int side); }}; int Geo::area(int side) {{ return side * side; }}"
    public, private = (build_library(source.format(access=access), language="c++") for access in ("public", "private"))
    assert process("compare", public, private).code == 2
    assert process("compare", public, private, "--fail-on", "breaking").code == 0


def test_two_for_a_risk_that_is_asked_to_fail(process: Call, old: Path) -> None:
    risky = build_library(OLD, soname="libcase.so.2")
    assert process("compare", old, risky).code == 0
    assert process("compare", old, risky, "--fail-on", "risk").code == 2


def test_four_when_built_consumers_fail(process: Call, old: Path, new: Path) -> None:
    assert process("compare", old, new).code == 4


def test_64_for_words_that_are_off(process: Call, old: Path) -> None:
    for words in ([], ["compar"], ["compare", old], ["export", old, "--nonsense"], ["explain", "nonsense"], ["db"]):
        assert process(*words).code == 64
    assert process("ingest", old).code == 64


def test_65_for_a_file_that_cannot_be_used(process: Call, tmp_path: Path) -> None:
    assert process("export", tmp_path / "missing.so").code == 65


def test_66_for_two_word_sizes(process: Call, old: Path, narrow: Path) -> None:
    assert process("compare", old, narrow).code == 66


def test_67_for_a_reference_that_nothing_is_stored_under(process: Call, old: Path) -> None:
    assert process("ingest", old, "--version", "1").code == 0
    assert process("show", "libcase@9").code == 67


def test_68_for_another_binary_under_a_taken_version(process: Call, old: Path, new: Path) -> None:
    assert process("ingest", old, "--version", "1").code == 0
    assert process("ingest", new, "--version", "1").code == 68


def test_69_for_a_baseline_that_stands_elsewhere_than_expected(process: Call, old: Path) -> None:
    assert process("ingest", old, "--version", "1").code == 0
    assert process("db", "baseline", "set", "libcase@1", "--expect", "0").code == 69


def test_70_for_a_defect_with_one_line_and_the_way_to_the_traceback(process: Call, old: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "msgspec.py").write_text("1 / 0\n")
    done = process("export", old, PYTHONPATH=str(broken))
    assert done.code == 70
    assert "internal error: ZeroDivisionError" in done.err
    assert "ABISTORE_DEBUG=1" in done.err
    assert "Traceback" not in done.err
    assert "Traceback" in process("export", old, PYTHONPATH=str(broken), ABISTORE_DEBUG="1").err


def test_73_for_an_answer_that_cannot_be_written(process: Call, old: Path, tmp_path: Path) -> None:
    assert process("export", old, "-o", tmp_path / "missing" / "x.json").code == 73
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "abistore", "changes"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 73
    assert b"Traceback" not in done.stderr


def test_74_for_a_database_that_refuses(process: Call, database: Path) -> None:
    with sqlite3.connect(database) as foreign:
        foreign.execute("CREATE TABLE other (x)")
    assert process("list").code == 74


def test_130_for_an_interrupt(process: Call, old: Path, database: Path) -> None:
    assert process("db", "init").code == 0
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    call = [sys.executable, "-m", "abistore", "ingest", str(old), "--version", "1", "--db", str(database)]
    waiting = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not waits_on(waiting.pid, database):
        assert waiting.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)  # by now it sleeps within SQLite
    waiting.send_signal(signal.SIGINT)
    _, err = waiting.communicate(timeout=30)
    holder.close()
    assert waiting.returncode == 130
    assert b"Traceback" not in err


def test_141_when_the_reader_of_the_output_has_left() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    call = [sys.executable, "-m", "abistore", "changes"]
    done = subprocess.run(call, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == b""


def waits_on(process: int, database: Path) -> bool:
    """Whether a process has the database open and the lock has kept it asleep since."""
    files = Path(f"/proc/{process}/fd")
    opened = {str(file.readlink()) for file in files.iterdir() if file.exists()}
    return str(database.resolve()) in opened
