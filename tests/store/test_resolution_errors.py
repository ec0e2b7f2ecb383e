"""What a reference does not name is told by a stable code: not found, ambiguous, wrong target, wrong profile."""

from __future__ import annotations

import pytest

from abistore.errors import AbistoreError
from abistore.interface import (
    BaselinePlan,
    IngestPlan,
    OpenStore,
    SnapshotNotFound,
    baselines,
    ingest,
    open_store,
    releases,
    set_baseline,
)
from tests.build import NARROW, build_library

SOURCE = "int one(void) { return 1; }\n"


@pytest.fixture
def store(address: str) -> OpenStore:
    """One library for two platforms, and on one of them in two profiles; only the first has a baseline."""
    made = open_store(address, create=True)
    native = build_library(SOURCE, soname="libfoo.so.1")
    narrow = build_library(SOURCE, soname="libfoo.so.1", flags=NARROW)
    ingest(native, IngestPlan(library="libfoo", version="1.0", profile="std"), database=made)
    ingest(native, IngestPlan(library="libfoo", version="1.0", profile="debug"), database=made)
    ingest(narrow, IngestPlan(library="libfoo", version="1.0", profile="std"), database=made)
    set_baseline("libfoo@1.0", BaselinePlan(target="x86_64", profile="std"), database=made)
    return made


def code(store: OpenStore, reference: str, **line: str) -> str:
    with store.lent(write=False) as lent, pytest.raises(SnapshotNotFound) as caught:
        lent.resolve(reference, **line)
    assert caught.value.exit_code == 67
    assert caught.value.hint
    return caught.value.code


def test_each_failure_has_its_own_code(store: OpenStore) -> None:
    wide, narrow = sorted(
        {release.line.target for release in releases("libfoo", database=store)}, key=lambda each: "x86_64" not in each
    )
    with store:
        assert code(store, "libfoo@9.9") == "not-found"
        assert code(store, "libbar@1.0") == "not-found"
        assert code(store, "libfoo@baseline:lts") == "not-found"
        assert code(store, "libfoo@1.0") == "ambiguous"
        assert code(store, "libfoo@1.0", target=wide) == "ambiguous"
        assert code(store, "libfoo@1.0", target="elf-aarch64-64-little") == "wrong-target"
        assert code(store, "libfoo@1.0", target=wide, profile="musl") == "wrong-profile"
        assert code(store, "libfoo@baseline", target=narrow) == "wrong-target"
        assert code(store, "libfoo@baseline", target=wide, profile="debug") == "wrong-profile"


def test_a_reference_that_names_one_release_is_no_error(store: OpenStore) -> None:
    wide = next(each.line.target for each in releases("libfoo", database=store) if "x86_64" in each.line.target)
    with store, store.lent(write=False) as lent:
        assert lent.resolve("libfoo@baseline", target=wide, profile="std").version == "1.0"


def test_the_codes_are_those_of_errors_that_are_caught_as_before() -> None:
    kinds = {kind.code: kind for kind in SnapshotNotFound.__subclasses__()}
    assert set(kinds) == {"ambiguous", "wrong-target", "wrong-profile", "baseline-lost"}
    assert all(issubclass(kind, AbistoreError) for kind in kinds.values())


def test_a_channel_is_promoted_with_reason_and_author(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from abistore.cli.main import run

    monkeypatch.setenv("ABISTORE_DB", str(address))
    for version, more in (("1.0", ""), ("1.1", "int two(void) { return 2; }\n")):
        file = build_library(SOURCE + more, soname="libfoo.so.1")
        assert run(["ingest", str(file), "--version", version]) == 0
    assert run(["db", "baseline", "set", "libfoo@1.0"]) == 0
    assert run(["db", "baseline", "set", "libfoo@1.1", "--channel", "staging"]) == 0
    promote = ["db", "baseline", "promote", "libfoo", "staging", "release", "--actor", "ana"]
    assert run(promote) == 64
    assert run([*promote, "--reason", "tests passed", "--expect", "0.9"]) == 69
    assert run([*promote, "--reason", "tests passed", "--expect", "1.0"]) == 0
    assert run([*promote, "--reason", "once more", "--expect", "1.0"]) == 69
    capsys.readouterr()
    with open_store(address) as store:
        (move,) = [each for each in baselines("libfoo", database=store) if each.channel == "release"]
    assert (move.version, move.actor, move.reason) == ("1.1", "ana", "tests passed")
    assert run(["db", "baseline", "promote", "libfoo", "nightly", "release", "--reason", "x"]) == 67
