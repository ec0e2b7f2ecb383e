"""By which build and commit a break was introduced, in the pipeline that stores every commit of the main branch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from abistore.errors import UsageError
from abistore.service.commits import Commits, CommitSource
from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.skipif(not (shutil.which("git") and shutil.which("gcc")), reason="needs git and a C compiler")

START = "struct options { int depth; };\nint count(const struct options *o) { return o->depth; }\n"
GROWN = START + "int more(void) { return 1; }\n"
INSERTED = GROWN.replace("int depth;", "int flags; int depth;")
SHIPPED = INSERTED + "int another(void) { return 2; }\n"
SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----"
URL = "https://example.org/geo/commit/{revision}"


class Repository:
    """A git repository of one source file, whose commits are built and stored as a pipeline does."""

    def __init__(self, folder: Path, abistore: Call) -> None:
        self.folder, self.abistore = folder, abistore
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        author = ("-c", "user.name=Ana Example", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *author, *words],
            cwd=self.folder,
            env=os.environ | alone,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def store(self, source: str, subject: str, *words: str, tag: str = "") -> tuple[str, str]:
        """Commit, build and ingest; the label of the build and its revision."""
        (self.folder / "geo.c").write_text(source)
        self.git("add", "geo.c")
        self.git("commit", "-q", "-m", subject)
        if tag:
            self.git("tag", tag)
        label, revision = tag or self.git("describe", "--tags", "--long"), self.git("rev-parse", "HEAD")
        library = build_library(source, soname="libgeo.so.1")
        self.abistore("ingest", library, "--version", label, "--revision", revision, *words)
        return label, revision


@pytest.fixture
def repository(tmp_path: Path, abistore: Call) -> Repository:
    return Repository(tmp_path / "geo", abistore)


CANDIDATE = ("--against", "baseline", "--keep-failed")


@pytest.fixture
def guilty(repository: Repository) -> tuple[str, str]:
    """The build and the revision that inserted a field, which only failed its gate; the next release ships it."""
    repository.store(START, "Begin", "--set-baseline", tag="1.0.0")
    repository.store(GROWN, "Add a function", *CANDIDATE)
    found = repository.store(INSERTED, "Insert a field before depth", *CANDIDATE)
    repository.store(SHIPPED, "Add another function", tag="1.1.0")
    return found


def test_the_commit_whose_build_failed_the_gate_is_named_and_not_that_of_the_release(
    repository: Repository, guilty: tuple[str, str]
) -> None:
    label, revision = guilty
    words = ("--repository", repository.folder, "--commit-url", URL)
    (found,) = repository.abistore("blame", "options", *words, "--json").json["found"]
    (blamed,) = repository.abistore("blame", "libgeo", *words, "--json").json["blames"]
    for first in (found["first_broken"], blamed["breaks"][0]["introduced"]):
        assert (first["version"], first["revision"], first["candidate"]) == (label, revision, True)
        commit = first["commit"]
        assert (commit["author"], commit["subject"]) == ("Ana Example", "Insert a field before depth")
        assert commit["url"] == URL.replace("{revision}", revision)
    assert found["released"]["version"] == blamed["breaks"][0]["released"]["version"] == "1.1.0"
    assert found["last_good"]["version"].startswith("1.0.0-1-g")
    assert blamed["breaks"][0]["last_good"] == found["last_good"]


def test_the_text_names_the_build_the_author_the_page_and_the_release(
    repository: Repository, guilty: tuple[str, str]
) -> None:
    words = ("--repository", repository.folder, "--commit-url", URL)
    label, revision = guilty
    for out in (repository.abistore(*question, *words).out for question in (("blame", "libgeo"), ("log", "options"))):
        assert f"{label}  20" in out
        assert "candidate, not released" in out
        assert "Ana Example" in out
        assert "Insert a field before depth" in out
        assert URL.replace("{revision}", revision) in out
    assert "first released in 1.1.0" in repository.abistore("blame", "libgeo").out


def test_the_log_says_in_which_build_a_declaration_was_first_as_released(
    repository: Repository, guilty: tuple[str, str]
) -> None:
    events = repository.abistore("log", "options", "--json").json["events"]
    assert [(each["version"], each["built"]["version"]) for each in events] == [
        ("1.0.0", "1.0.0"),
        ("1.1.0", guilty[0]),
    ]
    (more, *_) = repository.abistore("log", "more", "--json").json["events"]
    assert more["built"]["version"] == more["version"]


def test_a_break_that_no_release_has_is_found_in_a_candidate(repository: Repository) -> None:
    repository.store(START, "Begin", "--set-baseline", tag="1.0.0")
    label, revision = repository.store(INSERTED, "Insert a field", *CANDIDATE)
    (found,) = repository.abistore("blame", "options", "--json").json["found"]
    assert (found["first_broken"]["version"], found["first_broken"]["revision"]) == (label, revision)
    assert (found["released"], found["last_good"]["version"]) == (None, "1.0.0")
    assert "not yet" in repository.abistore("blame", "options").out


def test_a_break_of_a_build_between_releases_names_the_release_that_shipped_it(repository: Repository) -> None:
    repository.store(START, "Begin", tag="1.0.0")
    label, _ = repository.store(INSERTED, "Insert a field")
    repository.store(SHIPPED, "Add a function", tag="1.1.0")
    ((blamed, *_),) = (each["breaks"] for each in repository.abistore("blame", "libgeo", "--json").json["blames"])
    assert (blamed["introduced"]["version"], blamed["introduced"]["candidate"]) == (label, False)
    assert blamed["released"]["version"] == "1.1.0"


def test_a_break_that_was_taken_back_before_a_release_is_not_the_one_that_was_released(repository: Repository) -> None:
    repository.store(START, "Begin", "--set-baseline", tag="1.0.0")
    repository.store(INSERTED, "Insert a field", *CANDIDATE)
    repository.store(START, "Take it back", *CANDIDATE)
    again, _ = repository.store(INSERTED, "Insert it again", *CANDIDATE)
    repository.store(SHIPPED, "Add a function", tag="1.1.0")
    (found,) = repository.abistore("blame", "options", "--json").json["found"]
    assert found["first_broken"]["version"] == again


def test_the_project_file_says_where_commits_are(
    repository: Repository, guilty: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.folder / "abistore.toml").write_text(f'repository = "."\ncommit_url = "{URL}"\n')
    monkeypatch.chdir(repository.folder)
    (found,) = repository.abistore("blame", "options", "--json").json["found"]
    assert found["first_broken"]["commit"]["subject"] == "Insert a field before depth"


def test_no_program_that_a_repository_names_is_run(repository: Repository, tmp_path: Path) -> None:
    repository.store(START, "Begin", tag="1.0.0")
    signed = repository.git("cat-file", "commit", "HEAD").replace("\n\n", f"\ngpgsig {SIGNATURE}\n\n", 1)
    (tmp_path / "commit").write_text(f"{signed}\n")
    revision = repository.git("hash-object", "-t", "commit", "-w", str(tmp_path / "commit"))
    ran, script = tmp_path / "ran", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    repository.git("config", "gpg.program", str(script))
    repository.git("config", "log.showSignature", "true")
    commit = Commits(CommitSource(repository.folder)).commit(revision)
    assert commit is not None
    assert (commit.subject, ran.exists()) == ("Begin", False)
    repository.git("log", "-1", revision)
    assert ran.exists()


@pytest.mark.parametrize("revision", ("--output=x", "HEAD", "main", "f" * 40, "v1.0;id"))
def test_a_revision_that_the_repository_lacks_or_that_is_no_hash_says_nothing(
    repository: Repository, revision: str
) -> None:
    repository.store(START, "Begin", tag="1.0.0")
    assert Commits(CommitSource(repository.folder)).commit(revision) is None


def test_a_folder_without_a_repository_and_a_url_without_a_revision_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a git repository"):
        Commits(CommitSource(tmp_path))
    for url in ("https://example.org/commit", "file:///{revision}"):
        with pytest.raises(UsageError, match="not the URL of a commit"):
            CommitSource(url=url)


def test_the_site_names_the_commit_of_a_release_and_its_author(
    repository: Repository, guilty: tuple[str, str], tmp_path: Path
) -> None:
    words = ("site", "-o", tmp_path / "site", "--commit-url", URL)
    assert repository.abistore(*words).code == 0
    pages = tmp_path / "site" / "libraries"
    assert not any("Ana Example" in page.read_text() for page in pages.rglob("*.html"))
    assert repository.abistore(*words, "--repository", repository.folder).code == 0
    (page,) = (each for each in pages.rglob("1-1-0-*.html"))
    text = page.read_text()
    assert re.search(rf'href="{URL.partition("{")[0]}[0-9a-f]{{40}}"', text)
    assert "Add another function" in text
    assert "Ana Example, 20" in text


def test_a_verdict_says_beside_a_break_in_which_build_it_began(repository: Repository, guilty: tuple[str, str]) -> None:
    label, revision = guilty
    done = repository.abistore("verdict", "libgeo@1.1.0")
    assert f"since {label}, a candidate, revision {revision[:10]}" in " ".join(done.out.split())
    changes = repository.abistore("verdict", "libgeo@1.1.0", "--json").json["changes"]
    assert {each["impact"] for each in changes if each["since"]} == {"breaking"}
    assert all(not each["since"] for each in changes if each["impact"] == "compatible")
