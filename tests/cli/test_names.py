"""Names that are accepted can be said to every command, and all others are refused where they come in."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from abistore.errors import UsageError
from abistore.interface import BaselinePlan, IngestPlan, ingest, set_baseline
from tests.cli.conftest import Call
from tests.editing import undigested

ODD = ("release:", "ä-1", "lib..", "x" * 255, "abcdef12", "~", "#1", "%41", "$HOME", "*", "'", '"', "\\")
"""Names that look like something else."""

LIBRARIES = (*ODD, "a b", "latest", "none", "candidate:")
VERSIONS = (*ODD, "..", "1:2.0-1", "HEAD", "release:1", "branch:main")
CHANNELS = (*ODD, "a b", "release/1.x", "..", "/", "a:b", "latest", "prev", "none", "baseline:main", "main=1")
PROFILES = (*ODD, "a b", "a/b", "..", "none", "default ä")

BAD = (
    "",
    " ",
    " x",
    "x ",
    "a\nb",
    "a\tb",
    "\x1b[0m",
    "\u200b",
    "-",
    "-x",
    "--force",
    "@",
    "a@b",
    "x" * 256,
    "x" * 10_000,
)
BAD_LIBRARIES = (*BAD, ".", "..", ".hidden", "a/b", "../a", "a=b")
BAD_VERSIONS = (*BAD, "a b", "a/b", "latest", "prev", "baseline", "baseline:main", "candidate:1.0", "none")
BAD_PROFILES = (*BAD, "all")
REFUSED = {"library": BAD_LIBRARIES, "version": BAD_VERSIONS, "profile": BAD_PROFILES, "channel": BAD}


def of(name: str, version: str = "1.0", channel: str = "main", profile: str = "default") -> dict[str, str]:
    return {"library": name, "version": version, "channel": channel, "profile": profile}


EVERY = [
    of(*names) for names in zip(cycle(LIBRARIES), cycle(VERSIONS), reversed(CHANNELS), cycle(PROFILES), strict=False)
]
"""Each library, version, channel and profile in one of them at least."""

ASKED = (
    ("list", "{library}"),
    ("show", "{library}@{version}"),
    ("show", "{library}@baseline:{channel}", "--exports"),
    ("show", "{library}@{version}", "--types"),
    ("export", "{library}@{version}", "-o", "out.json"),
    ("history", "{library}", "--profile={profile}"),
    ("log", "norm", "--library={library}"),
    ("verdict", "{library}@2.0", "--against={version}"),
    ("verdict", "{library}@2.0", "--against=baseline:{channel}"),
    ("compare", "{library}@{version}", "FILE"),
    ("compare", "{library}@baseline:{channel}", "FILE"),
    ("compare", "FILE", "{library}@baseline:{channel}"),
    ("verdict", "{library}@2.0", "--all-baselines"),
    ("verdict", "{library}@{version}", "--all-targets"),
    ("verdict", "{library}@2.0", "--statement"),
    ("blame", "{library}", "--since={version}"),
    ("blame", "{library}", "--since=baseline:{channel}"),
    ("show", "{library}", "--deprecated"),
    ("export", "--format", "debian-symbols", "{library}@{version}"),
    ("gate", "FILE", "--library={library}", "--version=3.0", "--channel={channel}", "--profile={profile}"),
    ("ingest", "FILE", "--library={library}", "--version=3.0", "--against=baseline:{channel}", "--profile={profile}"),
    ("ingest", "FILE", "--library={library}", "--version=3.0", "--against={version}", "--profile={profile}"),
    ("db", "release", "tag", "{library}@{version}", "lts"),
    ("db", "release", "edit", "{library}@{version}", "--revision=abc"),
    ("db", "baseline", "list", "{library}"),
    ("db", "baseline", "history", "{library}", "--channel={channel}"),
    ("approve", "a" * 20, "--library={library}", "--reason=x", "--scope=release:{version}", "--profile={profile}"),
    ("approve", "b" * 20, "--library={library}", "--reason=x", "--scope=branch:{channel}", "--profile=all"),
    ("db", "baseline", "set", "{library}@2.0", "--channel={channel}", "--expect={version}"),
    ("db", "baseline", "clear", "{library}", "--channel={channel}"),
    ("db", "forget", "{library}@{version}", "--reason=x"),
)


@pytest.mark.parametrize("names", EVERY, ids=lambda names: ascii("/".join(names.values()))[:50])
def test_a_name_that_is_accepted_can_be_said_to_every_command(
    abistore: Call, old: Path, added: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = ("--library={library}", "--profile={profile}")
    words = (*said, "--version={version}", "--set-baseline={channel}")
    done = abistore("ingest", old, *(word.format(**names) for word in words))
    assert done.code == 0, done.err
    assert abistore("ingest", added, "--version=2.0", *(word.format(**names) for word in said)).code == 0
    for asked in ASKED:
        done = abistore(*(str(added) if word == "FILE" else word.format(**names) for word in asked))
        assert done.code in (0, 2, 4), (asked, done)


PLACES: dict[str, tuple[tuple[str, ...], ...]] = {
    "library": (
        ("ingest", "FILE", "--version=1", "--library={}"),
        ("ingest", "FILE", "--version=1", "--library={}", "--dry-run"),
        ("gate", "FILE", "--version=1", "--library={}", "--bootstrap"),
        ("export", "FILE", "--library={}"),
    ),
    "version": (
        ("ingest", "FILE", "--version={}"),
        ("gate", "FILE", "--version={}", "--bootstrap"),
        ("export", "FILE", "--version={}"),
        ("approve", "a" * 20, "--library=libcase", "--reason=x", "--scope=release:{}"),
        ("approve", "a" * 20, "--library=libcase", "--reason=x", "--until=version:{}"),
    ),
    "profile": (
        ("ingest", "FILE", "--version=1", "--profile={}"),
        ("gate", "FILE", "--version=1", "--profile={}", "--bootstrap"),
    ),
    "channel": (
        ("db", "baseline", "set", "libcase@0.9", "--channel={}"),
        ("ingest", "FILE", "--version=1", "--set-baseline={}"),
        ("ingest", "FILE", "--version=1", "--set-baseline-if-none={}"),
        ("gate", "FILE", "--version=1", "--channel={}", "--bootstrap"),
        ("approve", "a" * 20, "--library=libcase", "--reason=x", "--scope=branch:{}"),
    ),
}


@pytest.mark.parametrize(("what", "place"), [(what, place) for what, places in PLACES.items() for place in places])
def test_any_other_name_is_refused_where_it_comes_in(
    abistore: Call, old: Path, added: Path, what: str, place: tuple[str, ...]
) -> None:
    assert abistore("ingest", old, "--version", "0.9").code == 0
    before = (
        abistore("list", "--json").out,
        abistore("db", "baseline", "list").out,
        abistore("approve", "list").out,
    )
    for name in REFUSED[what]:
        if place[0] == "approve" and (not name or name.strip() != name):
            continue  # blanks around are no part of a scope, and nothing is the default
        done = abistore(*(str(added) if word == "FILE" else word.replace("{}", name) for word in place), "--json")
        assert (done.code, bool(done.error["hint"])) == (64, True), (name, done)
    assert before == (
        abistore("list", "--json").out,
        abistore("db", "baseline", "list").out,
        abistore("approve", "list").out,
    )


@pytest.mark.parametrize("what", ["library", "version"])
def test_so_it_is_in_a_snapshot_that_is_imported(abistore: Call, old: Path, tmp_path: Path, what: str) -> None:
    dumped = tmp_path / "dump.json"
    assert abistore("export", old, "--version", "1.0", "-o", dumped).code == 0
    for name in REFUSED[what]:
        written = {**json.loads(undigested(dumped.read_text())), what: name}
        (tmp_path / "bad.json").write_text(json.dumps(written))
        done = abistore("import", tmp_path / "bad.json")
        assert done.code in (64, 65), (name, done)
    assert abistore("list", "--json").json["lines"] == []


def by_interface(what: str, name: str, library: Path, database: Path) -> object:
    if what == "channel":
        return set_baseline("libcase@0.9", BaselinePlan(channel=name), database=database)
    plan = IngestPlan(**{"version": "1.0", what: name})
    results = ingest([library], plan, database=database)
    return [one.release for one in results]


@pytest.mark.parametrize("what", REFUSED)
def test_so_it_is_in_python(old: Path, added: Path, database: Path, what: str) -> None:
    ingest([old], IngestPlan(version="0.9"), database=database)
    for name in REFUSED[what]:
        with pytest.raises(UsageError):
            by_interface(what, name, added, database)


UNSAYABLE = {"library": ".hidden", "version": "-x", "profile": "all", "channel": "-x"}
"""Names that a store may have in which no command could say them: an older one, or one that somebody forged."""


@pytest.fixture
def unsayable(abistore: Call, old: Path, added: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A store that has one name of a kind that no command could say, and a release beside it; not said: where it is."""

    def made(what: str) -> Path:
        said, there = {**of("libcase"), what: UNSAYABLE[what]}, tmp_path / "there.db"
        with pytest.MonkeyPatch.context() as patch:
            for module in ("model.versions", "store.ingest", "store.order"):
                patch.setattr(f"abistore.{module}.check_name", lambda *_: None)
            words = [f"--{key}={said[key]}" for key in ("library", "version", "profile")]
            done = abistore("ingest", old, *words, "--db", there)
            assert done.code == 0, done.err
            chosen = (f"--channel={said['channel']}", f"--profile={said['profile']}", "--db", there)
            assert abistore("db", "baseline", "set", f"{said['library']}@{said['version']}", *chosen).code == 0
        good = ("--library=libgood", "--version=1.0", "--set-baseline")
        assert abistore("ingest", added, *good, "--db", there).code == 0
        return there

    return made


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.usefixtures("either_database")
def test_so_it_is_in_a_bundle_and_the_rest_comes_in(
    abistore: Call, tmp_path: Path, unsayable: Callable[[str], Path], what: str
) -> None:
    """It was refused whole, and nothing said which release it was."""
    there, bundle = unsayable(what), tmp_path / "all.bundle"
    assert abistore("export", "--bundle", "-o", bundle, "--db", there).code == 0
    for command in (("import", bundle, "--dry-run"), ("import", bundle), ("db", "merge", there)):
        done = abistore(*command)
        named = "baseline -x of libcase" if what == "channel" else "digest "
        assert (done.code, f"not a {what}" in done.out, f"left out: {named}" in done.out or named in done.out) == (
            65,
            True,
            True,
        ), done
    lines = [line["line"]["library"] for line in abistore("list", "--json").json["lines"]]
    assert lines == (["libcase", "libgood"] if what == "channel" else ["libgood"])
    assert [each["channel"] for each in abistore("db", "baseline", "list", "--json").json["baselines"]] == ["release"]
    assert abistore("db", "check").code == 0


@pytest.mark.usefixtures("either_database")
def test_a_release_that_was_taken_back_for_its_name_keeps_nothing_out(
    abistore: Call, unsayable: Callable[[str], Path]
) -> None:
    there = unsayable("version")
    told = abistore("db", "merge", there, "--json")
    assert (told.code, told.error["code"]) == (65, "bundle")
    (refused,) = (one for one in told.json["merged"][0]["releases"] if one["status"] == "refused")
    assert abistore("db", "baseline", "clear", "libcase", "--channel=main", "--db", there).code == 0
    assert abistore("db", "forget", refused["digest"][:12], "--reason=its name", "--db", there).code == 0
    done = abistore("db", "merge", there)
    assert (done.code, "note: left out because it was replaced or removed there: libcase" in done.out) == (0, True), (
        done
    )
