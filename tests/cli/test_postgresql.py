"""The command line on PostgreSQL: the same words, the same answers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cli.conftest import Call

CALLER = """
struct point { int x, y; };
int norm(const struct point *p);
int gone(void);
int main(void) { struct point p = {1, 2}; return norm(&p) + gone(); }
"""


def without_what_differs(answer: object) -> object:
    """An answer without times."""
    if isinstance(answer, dict):
        return {
            name: without_what_differs(value)
            for name, value in answer.items()
            if name not in {"added", "date", "ingested", "moved"}
        }
    if isinstance(answer, list):
        return [without_what_differs(value) for value in answer]
    return answer


def test_a_url_is_as_good_as_a_path(
    abistore: Call, old: Path, added: Path, new: Path, database: Path, postgres_url: str
) -> None:
    calls: list[list[str | Path]] = [
        ["ingest", old, "--version", "1.0", "--set-baseline"],
        ["ingest", added, "--version", "1.1", "--against", "baseline", "--set-baseline"],
        ["ingest", new, "--version", "2.0", "--against", "baseline"],
        ["ingest", new, "--version", "2.0", "--against", "baseline", "--keep-failed"],
        ["ingest", new, "--version", "1.1", "--replace", "--against", "baseline"],
        ["ingest", added, "--version", "1.0", "--replace", "--replace-baseline", "why", "--against", "prev"],
        ["db", "baseline", "history", "libcase"],
        ["list", "libcase"],
        ["show", "libcase@candidate:2.0"],
        ["ingest", new, "--version", "2.0"],
        ["history", "libcase"],
        ["log", "point"],
        ["verdict", "libcase@2.0"],
        ["compare", "libcase@1.0", "libcase@latest"],
        ["show", "libcase@baseline"],
        ["db", "baseline", "list"],
        ["list"],
        ["db", "release", "edit", "libcase@1.1", "--revision", "abc", "--released", "2024-05-06"],
        ["ingest", added, "--version", "1.1", "--revision", "def", "--url", "https://ci.example/7"],
        ["db", "check"],
        ["show", "libcase@9"],
    ]
    for words in calls:
        here, there = (abistore(*words, "--json", "--db", where) for where in (database, postgres_url))
        assert there.code == here.code
        assert without_what_differs(there.envelope) == without_what_differs(here.envelope)


def test_consumers_are_the_same(
    abistore: Call, old: Path, new: Path, database: Path, postgres_url: str, tmp_path: Path
) -> None:
    programs = [tmp_path / "caller", tmp_path / "other"]
    for built, text in zip(programs, (CALLER, "int main(void) { return 0; }"), strict=True):
        (tmp_path / "case.c").write_text(text)
        subprocess.run(["gcc", "-w", "-g", "case.c", str(old), "-o", str(built)], cwd=tmp_path, check=True)
    calls: list[list[str | Path]] = [
        ["ingest", old, "--version", "1.0"],
        ["ingest", new, "--version", "2.0"],
        ["consumers", "add", *programs],
        ["consumers", "add", programs[0]],
        ["consumers", "list"],
        ["consumers", "show", "caller"],
        ["consumers", "broken", "libcase@2.0"],
        ["consumers", "using", "libcase", "point"],
        ["matrix", "--program", "caller"],
        ["show", "--exports", "libcase@1.0", "--unused"],
        ["verdict", "libcase@2.0", "--consumers"],
        ["compare", "libcase@1.0", "libcase@2.0", "--consumers"],
        ["consumers", "remove", "caller"],
        ["consumers", "broken", "libcase@2.0"],
        ["db", "check"],
    ]
    for words in calls:
        here, there = (abistore(*words, "--json", "--db", where) for where in (database, postgres_url))
        assert there.code == here.code, there.err
        assert without_what_differs(there.envelope) == without_what_differs(here.envelope)
