"""A gate that requires a signed baseline: a signed tag passes and travels, and what is not what was signed does not."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from abistore.interface import open_store
from abistore.model.snapshot import ReleaseTag
from abistore.service.database import using
from tests.build import build_library
from tests.cli.conftest import Call
from tests.signing.keys import fingerprint_of, make_key, public, signers

FIRST = "int area(int side) { return side; }\nint gone(void) { return 1; }\n"
MORE = f"{FIRST}int more(void) {{ return 2; }}\n"


class Gated(NamedTuple):
    """A store with a baseline, a build to be gated, and the list that trusts a key."""

    call: Call
    key: Path
    trusted: Path
    build: Path

    def sign(self, *words: str | Path, reference: str = "libgeo@1.0") -> Any:
        return self.call("db", "release", "tag", reference, "reviewed", "--sign", self.key, *words)

    def gate(self, *words: str | Path) -> Any:
        trusted = ("--require-signed", "--allowed-signers", self.trusted)
        return self.call("gate", self.build, "--version", "1.1", *trusted, *words, "--json")

    def refused(self, *words: str | Path) -> str:
        done = self.gate(*words)
        assert done.code == 76
        code: str = done.error["code"]
        return code


@pytest.fixture
def gated(abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gated:
    for name in ("ABISTORE_ALLOWED_SIGNERS", "ABISTORE_REVOKED_SIGNERS"):
        monkeypatch.delenv(name, raising=False)
    old, new = (build_library(source, soname="libgeo.so.1", name="libgeo.so.1") for source in (FIRST, MORE))
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    key = make_key(tmp_path / "release")
    return Gated(abistore, key, signers(tmp_path / "signers", f"release@example.org {public(key)}"), new)


def test_a_gate_that_requires_a_signature_passes_once_the_baseline_has_one(gated: Gated) -> None:
    assert gated.refused() == "unsigned"
    assert gated.sign("--note", "by the release team").code == 0
    done = gated.gate()
    assert (done.code, done.envelope["outcome"]) == (0, "pass")
    (tag,) = gated.call("list", "libgeo", "--json").json["releases"][0]["tags"]
    assert (tag["name"], tag["note"]) == ("reviewed", "by the release team")
    assert tag["signature"]["key"] == fingerprint_of(gated.key)
    record = gated.call("db", "audit", "--action", "tag", "--json").json["audit"][0]
    assert record["detail"].endswith(f"signed by {fingerprint_of(gated.key)}")


def test_without_the_option_no_signature_is_needed(gated: Gated) -> None:
    assert gated.call("gate", gated.build, "--version", "1.1").code == 0


def test_a_plain_tag_of_the_same_name_is_signed_and_keeps_its_note(gated: Gated) -> None:
    assert gated.call("db", "release", "tag", "libgeo@1.0", "reviewed", "--note", "first").code == 0
    assert gated.refused() == "unsigned"
    assert gated.sign().code == 0
    assert gated.gate().code == 0
    (tag,) = gated.call("list", "libgeo", "--json").json["releases"][0]["tags"]
    assert tag["note"] == "first"


def test_the_keys_of_others_and_revoked_ones_do_not_count(gated: Gated, tmp_path: Path) -> None:
    assert gated.sign().code == 0
    revoked = signers(tmp_path / "revoked", public(gated.key))
    assert gated.refused("--revoked-signers", revoked) == "revoked-key"
    signers(gated.trusted, f"other@example.org {public(make_key(tmp_path / 'other'))}")
    assert gated.refused() == "untrusted-key"
    signers(gated.trusted, f'release@example.org valid-before="20200101Z" {public(gated.key)}')
    assert gated.refused() == "expired-key"


def test_a_signature_of_another_release_or_tag_does_not_count(gated: Gated, database: Path) -> None:
    assert gated.call("ingest", gated.build, "--version", "0.9").code == 0
    assert gated.sign(reference="libgeo@0.9").code == 0
    with open_store(database) as store, using(store, write=True) as writing:
        other = writing.resolve("libgeo@0.9")
        writing.tag(writing.resolve("libgeo@1.0"), other.tags)
    assert gated.refused() == "wrong-signature"
    assert gated.sign().code == 0
    assert gated.gate().code == 0
    with open_store(database) as store, using(store, write=True) as writing:
        (tag,) = writing.resolve("libgeo@1.0").tags
        release = writing.untag(writing.resolve("libgeo@1.0"), "reviewed").release
        writing.tag(release, [ReleaseTag("lts", tag.note, tag.signature)])
    assert gated.refused() == "wrong-signature"


def test_a_baseline_that_was_replaced_by_a_forged_snapshot_is_refused(gated: Gated, tmp_path: Path) -> None:
    """The forged one declares one function less, keeps the signed tag, and is consistent in itself."""
    assert gated.sign().code == 0
    whole = tmp_path / "geo.json"
    assert gated.call("export", "libgeo@1.0", "-o", whole).code == 0
    less = build_library(FIRST.replace("int gone(void) { return 1; }\n", ""), soname="libgeo.so.1", name="libgeo.so.1")
    assert gated.call("export", less, "--version", "1.0", "-o", tmp_path / "less.json").code == 0
    said, forged = json.loads(whole.read_text()), json.loads((tmp_path / "less.json").read_text())
    forged |= {"exported": said["exported"], "provenance": said["provenance"]}
    del forged["digest"]
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    replaced = ("--replace", "--replace-baseline", "forged")
    assert gated.call("import", tmp_path / "forged.json", *replaced).code == 0
    assert gated.call("gate", gated.build, "--version", "1.1").code == 0
    assert gated.refused() == "wrong-signature"


def test_the_signature_travels_with_snapshots_bundles_and_merges(
    gated: Gated, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gated.sign().code == 0
    assert gated.call("export", "libgeo@1.0", "-o", tmp_path / "geo.json").code == 0
    assert gated.call("export", "libgeo", "--bundle", "-o", tmp_path / "geo.bundle").code == 0
    for name, words in (
        ("snapshot", ("import", tmp_path / "geo.json")),
        ("bundle", ("import", tmp_path / "geo.bundle")),
        ("merged", ("db", "merge", database)),
    ):
        monkeypatch.setenv("ABISTORE_DB", str(tmp_path / f"{name}.db"))
        gated.call("db", "init")
        assert gated.call(*words).code == 0, name
        assert gated.call("db", "baseline", "set", "libgeo@1.0").code == 0
        assert gated.gate().code == 0, name
    monkeypatch.setenv("ABISTORE_DB", str(tmp_path / "renamed.db"))
    assert gated.call("import", tmp_path / "geo.json", "--version", "1.0.1").code == 0
    assert gated.call("db", "baseline", "set", "libgeo@1.0.1").code == 0
    assert gated.refused() == "wrong-signature"


def test_a_note_that_was_changed_in_the_database_is_found(gated: Gated, database: Path) -> None:
    assert gated.sign("--note", "for 1.x").code == 0
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE snapshot SET tags = replace(tags, 'for 1.x', 'for 2.x')")
    connection.close()
    assert gated.gate().code == 74


def test_the_project_file_can_require_it(gated: Gated, tmp_path: Path) -> None:
    file = tmp_path / "abistore.toml"
    file.write_text(f'allowed_signers = "{gated.trusted.name}"\n[gate]\nrequire_signed = true\n')
    words = ("gate", gated.build, "--version", "1.1", "--config", file)
    assert gated.call(*words).code == 76
    assert gated.sign().code == 0
    assert gated.call(*words).code == 0


def test_requiring_a_signature_needs_a_list_of_signers(gated: Gated) -> None:
    done = gated.call("gate", gated.build, "--version", "1.1", "--require-signed")
    assert (done.code, "--allowed-signers" in done.err) == (64, True)


def test_a_tag_is_not_signed_and_removed(gated: Gated) -> None:
    assert gated.sign("--remove").code == 64


@pytest.mark.parametrize(
    "fields", [{"signed": "2026-01-01T00:00:00"}, {"key": "SHA256:short"}, {"sig": "\x1b[31m"}, {"more": 1}]
)
def test_a_malformed_signature_is_not_imported(gated: Gated, tmp_path: Path, fields: dict[str, Any]) -> None:
    assert gated.sign().code == 0
    assert gated.call("export", "libgeo@1.0", "-o", tmp_path / "geo.json").code == 0
    whole = json.loads((tmp_path / "geo.json").read_text())
    whole["exported"]["tags"][0]["signature"] |= fields
    del whole["digest"]
    (tmp_path / "geo.json").write_text(json.dumps(whole))
    done = gated.call("import", tmp_path / "geo.json", "--library", "libother", "--json")
    assert (done.code, done.error["code"]) == (65, "snapshot")
    assert "signature" in done.error["message"]


def test_a_release_of_which_no_file_is_known_can_be_signed(gated: Gated, tmp_path: Path) -> None:
    assert gated.call("export", "libgeo@1.0", "-o", tmp_path / "geo.json").code == 0
    whole = json.loads((tmp_path / "geo.json").read_text())
    whole["provenance"]["sha256"] = ""
    del whole["digest"]
    (tmp_path / "geo.json").write_text(json.dumps(whole))
    assert gated.call("import", tmp_path / "geo.json", "--version", "1.0.1").code == 0
    assert gated.call("db", "baseline", "set", "libgeo@1.0.1").code == 0
    assert gated.sign(reference="libgeo@1.0.1").code == 0
    assert gated.gate().code == 0


def test_a_signed_tag_that_withdraws_the_release_does_not_count(gated: Gated) -> None:
    assert gated.call("db", "release", "tag", "libgeo@1.0", "withdrawn", "--sign", gated.key).code == 0
    assert gated.refused() == "unsigned"
    assert gated.sign().code == 0
    assert gated.gate().code == 0
