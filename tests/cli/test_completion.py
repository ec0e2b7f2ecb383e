"""What a shell offers when TAB is pressed, and what it does with that."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from abistore.cli.main import main
from tests.cli.conftest import Call

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def channels(stored: Call) -> Call:
    """The command line over a library with two baselines."""
    stored("db", "baseline", "set", "libcase@1.0")
    stored("db", "baseline", "set", "libcase@1.1", "--channel", "main")
    return stored


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database: Path) -> Offered:
    """The values that the program gives a shell's script for the last of some words."""
    monkeypatch.setenv("ABISTORE_DB", str(database))

    def asked(shell: str, *words: str) -> list[str]:
        monkeypatch.setenv("_ABISTORE_COMPLETE", f"{shell}_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(("abistore", *words)))
        monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words)))
        capsys.readouterr()
        with pytest.raises(SystemExit, match=r"^0$"):
            main()
        told = capsys.readouterr()
        assert told.err == ""
        lines = told.out.splitlines()
        return lines[1::3] if shell == "zsh" else [line.partition(",")[2].partition("\t")[0] for line in lines if line]

    return asked


AGAINST = "prev baseline baseline:main baseline:release 1.0 1.1 2.0"
WANTED = [
    (("verdict", "libcase@baseline:"), ["libcase@baseline:main", "libcase@baseline:release"]),
    (("compare", "libcase@baseline:m"), ["libcase@baseline:main"]),
    (("verdict", "libcase@2.0", "--against", ""), AGAINST.split()),
    (("verdict", "libcase@2.0", "--against", "baseline:r"), ["baseline:release"]),
    (("blame", "libcase", "--since", ""), AGAINST.split()[1:]),
    (("show", "--exports", "libcase@1"), ["libcase@1.0", "libcase@1.1"]),
    (("matrix", "libcase@2"), ["libcase@2.0"]),
    (("show", "libcase@2.0", "nor"), ["norm"]),
    (("log", "norm", "--library", "libc"), ["libcase"]),
    (("ingest", "x.so", "--against", "b"), ["baseline", "baseline:main", "baseline:release"]),
    (("ingest", "--library", "libcase", "--against", "1."), ["1.0", "1.1"]),
    (("ingest", "--set-baseline", "m"), ["main"]),
    (("history", "libcase", "--channel", ""), ["main", "release"]),
    (("db", "baseline", "history", "libcase", "--channel", "r"), ["release"]),
    (("db", "baseline", "set", "libcase@2.0", "--channel", "m"), ["main"]),
    (("db", "baseline", "set", "libnone@2.0", "--channel", ""), []),
    (("history", "libcase", "--policy", "s"), ["strict_abi", "sdk_vendor"]),
    (("compare", "--policy", "plug"), ["plugin_abi"]),
    (("policy", "show", "sdk"), ["sdk_vendor"]),
    (("verdict", "libcase@2.0", "--policy", "build/x"), ["build/x"]),
    (("verdict", "libcase@2.0", "--suppress", "known"), ["known"]),
]


def test_findings_are_offered_by_their_first_digits(offered: Offered, channels: Call) -> None:
    found = channels("verdict", "libcase@2.0", "--json").json["changes"][0]["id"]
    for words in (("approve",), ("approve", "withdraw"), ("approve", "note"), ("explain",)):
        assert offered("bash", *words, found[:10]) == [found], words


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.usefixtures("channels")
def test_baselines_counterparts_and_policies_are_offered(offered: Offered, shell: str) -> None:
    for words, expected in WANTED:
        if words[-1] or shell != "fish":
            assert offered(shell, *words) == expected, words


def test_without_a_database_nothing_is_offered_and_nothing_said(offered: Offered) -> None:
    for words in (
        ("verdict", "libcase@baseline:"),
        ("verdict", "libcase@1", "--against", "b"),
        ("history", "x", "--ch"),
    ):
        assert offered("bash", *words) in ([], ["--channel"])


@pytest.fixture
def bash(channels: Call, tmp_path: Path, database: Path) -> object:
    """Presses TAB behind a line in Bash, whose word breaks may be other ones: what it would insert."""
    program, script = tmp_path / "bin" / "abistore", tmp_path / "completion.bash"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m abistore "$@"\n')
    program.chmod(0o755)
    script.write_text(channels("config", "completion", "bash").out)

    def press(line: str, breaks: str = "") -> list[str]:
        commands = (
            f"source {script}; {breaks}\n"
            f"COMP_LINE={shlex.quote(line)}; COMP_POINT={len(line)}\n"
            f"_abistore_completion {program}\n"
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", commands],
            capture_output=True,
            text=True,
            timeout=60,
            env={"ABISTORE_DB": str(database), "PATH": "/usr/bin:/bin"},
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []

    return press


def test_bash_inserts_what_is_behind_its_last_word_break(bash: Call) -> None:
    assert bash("abistore verdict libcase@baseline:") == ["main", "release"]
    assert bash("abistore verdict libcase@baseline:m") == ["main"]
    assert bash("abistore verdict libcase@1") == ["libcase@1.0", "libcase@1.1"]
    assert bash("abistore verdict libcase@1", "COMP_WORDBREAKS+=@") == ["1.0", "1.1"]
    assert bash("abistore verdict libcase@baseline:m", "COMP_WORDBREAKS=' '") == ["libcase@baseline:main"]
    assert bash("abistore verdict libcase@2.0 --against=baseline:m") == ["main"]
    assert bash("abistore verdict libcase@2.0 --against=pr") == ["prev"]
    assert bash("abistore history libcase --channel ") == ["main", "release"]
    assert bash("abistore hist") == ["history"]


def test_bash_is_given_labels_that_it_does_not_run(bash: Call, channels: Call, old: Path, tmp_path: Path) -> None:
    channels("ingest", old, "--library", "libodd", "--version", "1.$(id)")
    channels("ingest", old, "--library", "libodd", "--version", "2.*;`id`")
    assert bash("abistore verdict libodd@1") == ["libodd@1.\\$\\(id\\)"]
    assert bash("abistore verdict libodd@2") == ["libodd@2.\\*\\;\\`id\\`"]
