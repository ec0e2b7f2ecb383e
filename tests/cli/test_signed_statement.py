"""Signed statements on the command line: what is accepted, and that forged, stale and swapped ones are refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from tests.build import build_library
from tests.cli.conftest import Call
from tests.signing.keys import fingerprint_of, make_key, public, signers
from tests.statement_schema import PUBLISHED

FIRST = "int area(int side) { return side; }\nint gone(void) { return 1; }\n"
MORE = f"{FIRST}int more(void) {{ return 2; }}\n"
BROKEN = "int area(int side) { return side; }\n"


class Signed(NamedTuple):
    """A store with two releases of a library, a signed statement about the second, and the list that trusts its key."""

    call: Call
    document: Path
    library: Path
    previous: Path
    key: Path
    trusted: Path

    def verify(self, *words: str | Path, document: Path | None = None) -> Any:
        trusted = ("--allowed-signers", self.trusted)
        return self.call("verdict", "--verify", document or self.document, *trusted, *words, "--json")


@pytest.fixture
def signed(abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Signed:
    for name in ("ABISTORE_ALLOWED_SIGNERS", "ABISTORE_REVOKED_SIGNERS"):
        monkeypatch.delenv(name, raising=False)
    old, new = (build_library(source, soname="libgeo.so.1", name="libgeo.so.1") for source in (FIRST, MORE))
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    assert abistore("ingest", new, "--version", "1.1").code == 0
    key, document = make_key(tmp_path / "release"), tmp_path / "geo.json"
    done = abistore("verdict", "libgeo@1.1", "--statement", "--sign", key, "-o", document)
    assert (done.code, done.out) == (0, "PASS: 1.1 does not break 1.0\n")
    trusted = signers(tmp_path / "signers", f"release@example.org {public(key)}")
    return Signed(abistore, document, new, old, key, trusted)


def test_a_statement_is_verified_with_its_file_and_its_store(signed: Signed) -> None:
    done = signed.verify("libgeo@1.1", "--library", signed.library)
    found = done.json["verified"]
    assert (done.code, done.envelope["outcome"], done.envelope["verdict"]) == (0, "pass", "COMPATIBLE")
    assert (found["key"], found["principals"]) == (fingerprint_of(signed.key), ["release@example.org"])
    assert (found["decided_again"], found["changed"]) == (True, [])
    assert [each["file"] for each in found["subjects"]] == [str(signed.library)]
    text = signed.call("verdict", "--verify", signed.document, "--allowed-signers", signed.trusted).out
    assert text.splitlines()[0] == "PASS: 1.1 does not break 1.0"
    assert "not compared (--library)" in text
    assert "not repeated (name the release)" in text


def test_what_is_signed_is_the_statement_that_the_schema_describes(signed: Signed) -> None:
    envelope = json.loads(signed.document.read_text())
    said = json.loads(b64decode(envelope["payload"]))
    plain = signed.call("verdict", "libgeo@1.1", "--statement", "--json")
    assert said["predicate"]["statement"] == plain.json["statement"]
    Draft202012Validator(PUBLISHED).validate({**plain.envelope, "data": {"statement": said["predicate"]["statement"]}})
    digest = subprocess.run(["sha256sum", signed.library], capture_output=True, text=True, check=True).stdout.split()[0]
    assert said["subject"] == [{"name": "libgeo.so.1", "digest": {"sha256": digest}}]


def test_without_a_list_of_signers_nothing_is_verified(signed: Signed) -> None:
    done = signed.call("verdict", "--verify", signed.document)
    assert (done.code, "--allowed-signers" in done.err) == (64, True)


def test_a_forged_statement_is_refused(signed: Signed, tmp_path: Path) -> None:
    envelope = json.loads(signed.document.read_text())
    payload = b64decode(envelope["payload"]).replace(b'"outcome":"pass"', b'"outcome":"fail"')
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps({**envelope, "payload": b64encode(payload).decode()}))
    done = signed.verify(document=forged)
    assert (done.code, done.error["code"]) == (76, "wrong-signature")
    stranger = make_key(tmp_path / "stranger")
    signed.call("verdict", "libgeo@1.1", "--statement", "--sign", stranger, "-o", forged)
    done = signed.verify(document=forged)
    assert (done.code, done.error["code"]) == (76, "untrusted-key")


def test_expired_and_revoked_keys_are_refused(signed: Signed, tmp_path: Path) -> None:
    signers(signed.trusted, f'release@example.org valid-before="20200101" {public(signed.key)}')
    done = signed.verify()
    assert (done.code, done.error["code"]) == (76, "expired-key")
    signers(signed.trusted, f"release@example.org {public(signed.key)}")
    done = signed.verify("--revoked-signers", signers(tmp_path / "revoked", public(signed.key)))
    assert (done.code, done.error["code"]) == (76, "revoked-key")


def test_a_swapped_file_or_release_is_refused(signed: Signed) -> None:
    done = signed.verify("--library", signed.previous)
    assert (done.code, done.error["code"]) == (76, "wrong-file")
    assert str(signed.previous) in done.error["message"]
    done = signed.verify("libgeo@1.0")
    assert (done.code, done.error["code"]) == (76, "wrong-file")
    assert "about libgeo 1.1, not libgeo 1.0" in done.error["message"]


def test_another_build_stored_under_the_same_version_is_refused(signed: Signed) -> None:
    again = build_library(MORE + "/* again */", soname="libgeo.so.1", name="libgeo.so.1", flags=("-O1",))
    assert signed.call("ingest", again, "--version", "1.1", "--replace").code == 0
    done = signed.verify("libgeo@1.1")
    assert (done.code, done.error["code"]) == (76, "wrong-file")
    assert "another build" in done.error["message"]


def test_a_statement_is_stale_once_the_decision_differs(signed: Signed, tmp_path: Path) -> None:
    fuller = build_library(MORE + "int most(void) { return 3; }", soname="libgeo.so.1", name="libgeo.so.1")
    assert signed.call("ingest", fuller, "--version", "1.0.5").code == 0
    done = signed.verify("libgeo@1.1")
    assert (done.code, done.error["code"]) == (76, "stale-statement")
    assert "pass (COMPATIBLE) is signed, fail (BREAKING) is decided now; changed: baselines" in done.error["message"]
    assert signed.verify().code == 0


def test_what_changed_without_effect_is_told(signed: Signed, monkeypatch: pytest.MonkeyPatch) -> None:
    done = signed.verify("libgeo@1.1", "--policy", "sdk_vendor")
    assert (done.code, done.json["verified"]["changed"]) == (0, ["policy"])
    assert signed.call("db", "baseline", "set", "libgeo@1.1").code == 0
    monkeypatch.setattr("abistore.service.statements.ENGINE", 1_000_000)
    done = signed.verify("libgeo@1.1")
    assert (done.code, done.json["verified"]["changed"]) == (0, ["engine"])


def test_a_statement_of_a_failing_release_fails_when_it_is_verified(signed: Signed, tmp_path: Path) -> None:
    broken = build_library(BROKEN, soname="libgeo.so.1", name="libgeo.so.1")
    assert signed.call("ingest", broken, "--version", "1.2").code == 0
    document = tmp_path / "broken.json"
    assert signed.call("verdict", "libgeo@1.2", "--statement", "--sign", signed.key, "-o", document).code == 4
    done = signed.verify("libgeo@1.2", "--library", broken, document=document)
    assert (done.code, done.envelope["outcome"]) == (4, "fail")


def test_what_is_no_statement_is_refused(signed: Signed, tmp_path: Path) -> None:
    for text in ("", "{}", signed.trusted.read_text()):
        other = tmp_path / "other.json"
        other.write_text(text)
        done = signed.verify(document=other)
        assert (done.code, done.error["code"]) == (76, "malformed-statement")
        assert done.error["message"].startswith(f"{other}: ")


def test_the_project_file_may_name_the_list_and_not_the_library(signed: Signed, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(signed.trusted, project / "signers")
    (project / "abistore.toml").write_text('library = "libgeo"\nallowed_signers = "signers"\n')
    words = ("verdict", "--verify", signed.document, "--config", project / "abistore.toml")
    assert signed.call(*words).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("libgeo@1.1", "--sign", "key"),
        ("libgeo@1.1", "--library", "x"),
        ("--statement",),
        ("libgeo@1.1", "--verify", "x", "--statement"),
        (),
    ],
)
def test_options_without_each_other_are_usage_errors(abistore: Call, words: tuple[str, ...]) -> None:
    assert abistore("verdict", *words).code == 64


def test_without_cryptography_the_extra_is_named(signed: Signed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    done = signed.verify()
    assert (done.code, done.error["code"]) == (64, "extra-missing")
    assert "sign" in done.error["hint"]
    done = signed.call("verdict", "libgeo@1.1", "--statement", "--sign", signed.key, "--json")
    assert done.error["code"] == "extra-missing"
