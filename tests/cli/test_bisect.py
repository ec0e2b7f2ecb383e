"""``--bisect``: exit codes as ``git bisect run`` reads them, tried with git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import ADDED, NEW, OLD, Call

GOOD, BAD, SKIP = 0, 1, 125
NO_SOURCE = "int norm(;"
COMMITS = (OLD, NO_SOURCE, OLD + "/* a comment */\n", ADDED, NEW, NO_SOURCE, NEW + "int more(void) { return 2; }\n")
FIRST_BAD = 4
BUILD = "rm -f libcase.so; gcc -g -shared -fPIC -Wl,-soname,libcase.so.1 -o libcase.so case.c 2>/dev/null\n"


def git(folder: Path, *words: str) -> str:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=os.environ | identity | alone, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Commits of one library: some do not build, and from one on it breaks the first."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    for number, source in enumerate(COMMITS):
        (folder / "case.c").write_text(source)
        git(folder, "add", "case.c")
        git(folder, "commit", "-q", "-m", f"commit {number}")
    return folder


@pytest.mark.skipif(not (shutil.which("git") and shutil.which("gcc")), reason="needs git and a C compiler")
@pytest.mark.parametrize(
    "question", ["gate libcase.so --version 2.0", "compare libcase@baseline libcase.so"], ids=["gate", "compare"]
)
def test_git_finds_the_commit_that_breaks_and_skips_those_that_do_not_build(
    abistore: Call, old: Path, repository: Path, database: Path, question: str
) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    script = repository.parent / "judge.sh"
    program = Path(sys.executable).with_name("abistore")
    script.write_text(f"{BUILD}'{program}' -q --db '{database}' {question} --bisect\n")
    git(repository, "bisect", "start", "HEAD", f"HEAD~{len(COMMITS) - 1}")
    told = git(repository, "bisect", "run", "sh", str(script))
    assert "is the first bad commit" in told
    assert f"commit {FIRST_BAD}" in told[told.index("is the first bad commit") :]


def test_every_failure_is_skipped_and_every_break_is_bad(based: Call, old: Path, new: Path, tmp_path: Path) -> None:
    policy = tmp_path / "none.yaml"
    codes = {
        ("gate", old, "--version", "1.1"): GOOD,
        ("gate", new, "--version", "1.1"): BAD,
        ("compare", old, new): BAD,
        ("compare", old, new, "--fail-on", "never"): GOOD,
        ("verdict", "libcase@2.0"): BAD,
        ("verdict", "libcase@2.0", "--against", "2.0"): GOOD,
        ("gate", tmp_path / "missing.so", "--version", "1.1"): SKIP,
        ("gate", new, "--version", "1.1", "--channel", "other"): SKIP,
        ("gate", new, "--version", ""): SKIP,
        ("gate", new, "--version", "1.1", "--policy", policy): SKIP,
        ("gate", new, "--version", "1.1", "--no-such-option"): SKIP,
        ("compare", old, policy): SKIP,
        ("verdict", "libcase@3.0"): SKIP,
        ("verdict", "libcase@2.0", "--db", tmp_path / "none.db"): SKIP,
    }
    for words, code in codes.items():
        assert based(*words, "--bisect").code == code, words
        assert based(*words, "--bisect", "--json").code == code, words
    assert based("gate", new, "--version", "1.1").code == 4


def test_missing_evidence_and_crashes_are_skipped(based: Call, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stripped = build_library(OLD, flags=("-O1",))
    assert based("gate", stripped, "--version", "1.1", "--bisect").code == SKIP

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("abistore.service.gating.gate", crash)
    assert based("gate", old, "--version", "1.1", "--bisect").code == SKIP


@pytest.fixture
def based(abistore: Call, old: Path, new: Path) -> Call:
    """A store with a baseline, and a release that breaks it."""
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    assert abistore("ingest", new, "--version", "2.0").code == 0
    return abistore
