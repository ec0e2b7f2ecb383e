"""The commits that builds were made from: who wrote them, and their pages."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec

from abistore.errors import UsageError
from abistore.model.history import Release
from abistore.report.since import Commit, DatedRelease

REVISION = "{revision}"
"""What stands for the revision in the template of a commit's URL."""

MOST_COMMITS = 100
"""So many commits of one answer are looked up."""

SECONDS = 10
MOST_BYTES = 1 << 16

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{7,64}")
_FORMAT = "%<(100,trunc)%an%x00%as%x00%<(200,trunc)%s"
_SAFE = (
    *("--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "log.showSignature=false"),
)
_LOG = ("log", "-1", "--no-walk", "--no-color", "--no-show-signature", "--no-patch", f"--format={_FORMAT}")
_CHECK = ("rev-parse", "--git-dir")
_ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C.UTF-8"}


class CommitSource(msgspec.Struct, frozen=True):
    """Where commits are looked up: a git repository, and the URL of a commit's page with ``{revision}`` in it.

    Raises :class:`UsageError` for a URL that is not of the web, or has no place for a revision.
    """

    repository: Path | None = None
    url: str = ""

    def __post_init__(self) -> None:
        """Refuse a URL that would be no link."""
        if self.url and (REVISION not in self.url or urlsplit(self.url).scheme not in {"http", "https"}):
            raise UsageError(
                f"{self.url}: not the URL of a commit", f"for example https://example.org/foo/commit/{REVISION}"
            )


NOWHERE = CommitSource()


class Commits:
    """Describes the commits of releases. The repository is only read: no hook, pager, filter or transport runs.

    Raises :class:`UsageError` where git finds no repository.
    """

    def __init__(self, source: CommitSource = NOWHERE) -> None:
        if source.repository is not None and not git(source.repository, *_CHECK):
            hint = "pass the folder of a checkout that git trusts; git must be installed"
            raise UsageError(f"{source.repository}: not a git repository", hint)
        self._source = source
        self._known: dict[str, Commit | None] = {}

    def dated(self, release: Release) -> DatedRelease:
        """A release as answers show it."""
        day = f"{release.released or release.ingested:%Y-%m-%d}"
        commit = self.commit(release.revision) if release.revision else None
        return DatedRelease(release.version, day, release.revision, release.candidate, commit)

    def commit(self, revision: str) -> Commit | None:
        """What is known of a revision; ``None`` if nothing is."""
        if revision not in self._known:
            self._known[revision] = self._looked_up(revision)
        return self._known[revision]

    def _looked_up(self, revision: str) -> Commit | None:
        url = self._source.url.replace(REVISION, quote(revision, safe=""))
        repository, is_known = self._source.repository, _HEXADECIMAL.fullmatch(revision)
        said = ""
        if repository is not None and is_known and len(self._known) < MOST_COMMITS:
            said = git(repository, *_LOG, revision, "--")
        author, date, subject = said.split("\0") if said.count("\0") == 2 else ("", "", "")
        commit = Commit(author.strip(), date, subject.strip(), url)
        return None if commit == Commit() else commit


def git(repository: Path, *words: str) -> str:
    """What git prints; nothing where it fails, or takes too long."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *_SAFE, "-C", str(repository.absolute()), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=own | _ALONE,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout[:MOST_BYTES].decode(errors="replace")
