"""A pipeline from its first run to a major release, in a git repository, by the commands of questions/pipelines.md.

Two pipelines at once are in ``test_races.py``.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done

pytestmark = pytest.mark.full

HEADER = "struct point { int x, y; };\n"
NORM = "int norm(const struct point *p) { return p->x + p->y; }\n"
SCALE = "int scale(struct point *p, int by) { p->x *= by; return p->y *= by; }\n"
START = HEADER + NORM + SCALE
BREAK = 6
"""The commit of ten that takes ``scale`` away."""


class Project(NamedTuple):
    """A library's repository, and the command line with the pipeline's database."""

    folder: Path
    call: Call

    def git(self, *words: str) -> str:
        """What git prints, by an author whom no configuration names."""
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        author = ("-c", "user.name=ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *author, *words],
            cwd=self.folder,
            env=os.environ | quiet,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, source: str, title: str) -> None:
        """A commit of the library's source."""
        (self.folder / "geo.c").write_text(source)
        self.git("add", "geo.c")
        self.git("commit", "-q", "-m", title)

    def described(self) -> str:
        """The label of a build of this commit."""
        return self.git("describe", "--tags", "--long")

    def head(self, name: str = "HEAD") -> str:
        """The revision of a commit."""
        return self.git("rev-parse", name)

    def build(self, soname: str = "libgeo.so.1") -> Path:
        """The library of this commit."""
        return build_library((self.folder / "geo.c").read_text(), soname=soname)

    def gate(self, *words: str | Path, version: str = "", soname: str = "libgeo.so.1") -> Done:
        """What a pull request's pipeline asks."""
        label = ("--version", version or self.described(), "--merge-base", self.head("HEAD~1"))
        return self.call("gate", self.build(soname), *label, *words)

    def ingest(self, *words: str | Path, version: str = "", soname: str = "libgeo.so.1") -> Done:
        """What the pipeline of the main branch does."""
        label = ("--version", version or self.described(), "--revision", self.head())
        return self.call("ingest", self.build(soname), *label, *words)

    def release(self, version: str, *words: str, soname: str = "libgeo.so.1") -> Done:
        """What the pipeline of a tag does."""
        self.git("tag", version)
        return self.ingest("--against", "baseline", "--set-baseline", *words, version=version, soname=soname)

    def stands(self, channel: str = "release") -> str:
        """The version at which a channel stands."""
        rows = self.call("db", "baseline", "list", "libgeo", "--json").json["baselines"]
        return next((str(row["version"]) for row in rows if row["channel"] == channel), "")


@pytest.fixture
def project(tmp_path: Path, abistore: Call) -> Project:
    """A repository with a first, tagged commit, and no database yet."""
    made = Project(tmp_path / "geo", abistore)
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    made.commit(START, "Begin")
    made.git("tag", "1.0.0")
    return made


def bootstrapped(project: Project) -> Project:
    assert project.ingest("--set-baseline-if-none", version="1.0.0").code == 0
    assert project.call("db", "baseline", "set", "libgeo@1.0.0", "--channel", "lts").code == 0
    return project


def source(number: int) -> str:
    """The library after so many commits: each adds a function, and the sixth takes one away."""
    kept = HEADER + NORM if number >= BREAK else START
    return kept + "".join(f"int added_{each}(void) {{ return {each}; }}\n" for each in range(1, number + 1))


def test_a_pipeline_goes_from_its_first_run_to_an_approval_that_ends(project: Project) -> None:
    # the first run: nothing to be judged against yet, which is an error until somebody says so
    assert project.ingest(version="0.9.0").code == 0
    first = project.call("gate", project.build(), "--version", "1.0.0")
    assert (first.code, "set it: abistore db baseline set libgeo@VERSION" in first.err) == (67, True)
    bootstrapped(project)

    # ten commits: each is judged and stored, and is the merge base of the next one; one of them breaks
    codes = []
    for number in range(1, 11):
        project.commit(source(number), f"Change {number}")
        if number == BREAK:
            refused = project.gate()
        codes.append(project.ingest("--against", "baseline", "--keep-failed").code)
    assert codes == [0] * (BREAK - 1) + [4] * (11 - BREAK)

    # the change that broke is told from those after it, which are red because of it
    assert refused.out.splitlines()[0].endswith("; introduced by this change")
    assert (refused.code, project.gate("--introduced-only").code) == (4, 0)
    later = project.gate()
    assert (later.code, later.out.splitlines()[0].endswith("; not introduced by this change")) == (4, True)

    # the release is refused: nothing is stored, nothing moves
    assert project.release("1.1.0").code == 4
    assert project.stands() == "1.0.0"

    # accepted for this release, by the command that the gate printed, and released
    (way,) = [line for line in refused.out.splitlines() if "approve it: " in line]
    words = way.partition("approve it: abistore ")[2].split()
    words[words.index("WHY")] = "nobody calls scale"
    assert project.call(*words, "--until", "1.1.0", "--approver", "ana", "--ticket", "GEO-7").code == 0
    released = project.ingest("--against", "baseline", "--set-baseline", version="1.1.0")
    assert (released.code, project.stands()) == (0, "1.1.0")
    told = " ".join(released.out.split())
    assert "BREAKING" in told
    assert "PASS: 1 finding approved by ana up to 1.1.0 (GEO-7): nobody calls scale" in told

    # the approval is over with 1.1.0: beside the release that still has the function, the gate refuses again
    project.commit(source(10) + "int more(void) { return 11; }\n", "Add more")
    beside = project.gate("--channel", "lts", version="1.2.0")
    assert beside.code == 4
    assert "no longer approved: " in " ".join(beside.out.split())
    assert project.gate(version="1.2.0").code == 0


def test_a_major_release_with_a_bumped_soname_passes_and_so_do_the_commits_after_it(project: Project) -> None:
    bootstrapped(project)
    project.commit(HEADER + NORM, "Take scale away")
    assert project.gate(version="2.0.0").code == 4
    passed = project.gate(version="2.0.0", soname="libgeo.so.2")
    assert (passed.code, "this is allowed: SONAME changed from .1 to .2" in passed.out) == (0, True)
    assert project.ingest("--against", "baseline", version="2.0.0-rc1", soname="libgeo.so.2").code == 0
    project.commit(HEADER + "int length(const struct point *p) { return p->x + p->y; }\n", "Call norm length")
    assert project.gate(version="2.0.0", soname="libgeo.so.2").code == 0
    assert project.release("2.0.0", soname="libgeo.so.2").code == 0
    assert project.stands() == "2.0.0"
    project.commit(HEADER, "Take length away, too")
    assert project.gate(version="2.0.1", soname="libgeo.so.2").code == 4


def test_a_break_is_accepted_by_a_file_that_is_reviewed_with_the_change(project: Project) -> None:
    bootstrapped(project)
    project.commit(HEADER + NORM, "Take scale away")
    refused = project.gate(version="1.1.0")
    (way,) = [line for line in refused.out.splitlines() if "approve it: " in line]
    identity = way.partition("abistore approve ")[2].split()[0]
    file = project.folder / "abi-approvals.yaml"
    entry = f"project: geo\napprovals:\n  - finding: {identity}\n    library: libgeo\n    reason: nobody calls scale\n"
    file.write_text(entry)
    unsigned = project.call("approve", "sync", file)
    assert (unsigned.code, "entry 1, approver: missing" in unsigned.err) == (64, True)
    assert "docs/questions/approvals.md" in unsigned.err
    file.write_text(entry + '    approver: ana\n    until: "2.0"\n')
    assert project.call("approve", "sync", file).code == 0
    passed = project.gate(version="1.1.0")
    assert (passed.code, "BREAKING" in passed.out) == (0, True)
    assert "[from file abi-approvals.yaml of project geo]" in " ".join(passed.out.split())
    file.write_text("project: geo\napprovals: []\n")
    assert project.call("approve", "sync", file).code == 0
    assert project.gate(version="1.1.0").code == 4
