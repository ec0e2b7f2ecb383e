"""Envelopes, keys and lists of trusted signers, with ssh-keygen, ssh-agent and another reader of DSSE beside them."""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from abistore.errors import (
    ExpiredKey,
    MalformedStatement,
    RevokedKey,
    SignersError,
    SigningKeyError,
    UntrustedKey,
    UsageError,
    WrongSignature,
)
from abistore.service.signatures import FileSubject, Trust, fingerprint, opened, signed, signing_key, trust
from tests.signing.keys import agent, fingerprint_of, make_key, public, signers

TYPE = "https://example.org/test/v1"
SUBJECT = FileSubject("libgeo.so.1", {"sha256": "0" * 64})
DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("keys") / "release")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("keys") / "other")


def document(key: Path) -> bytes:
    return signed([SUBJECT], TYPE, {"said": 1}, signing_key(key))


def trusting(folder: Path, key: Path, options: str = "", principal: str = "release@example.org") -> Trust:
    return trust(signers(folder / "signers", " ".join(filter(None, (principal, options, public(key))))))


def changed(data: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(data), **fields}).encode()


def test_another_reader_of_dsse_accepts_the_envelope_and_refuses_a_changed_one(key: Path) -> None:
    data = document(key)
    loaded = load_ssh_public_key(public(key).encode())
    theirs = SSlibKey.from_crypto(loaded, keyid=fingerprint_of(key))
    assert Envelope.from_dict(json.loads(data)).verify([theirs], 1)
    forged = Envelope.from_dict(json.loads(data))
    forged.payload = forged.payload.replace(b'"said":1', b'"said":2')
    with pytest.raises(VerificationError):
        forged.verify([theirs], 1)
    statement = json.loads(b64decode(json.loads(data)["payload"]))
    assert (statement["_type"], statement["predicateType"]) == ("https://in-toto.io/Statement/v1", TYPE)
    assert statement["subject"] == [{"name": "libgeo.so.1", "digest": {"sha256": "0" * 64}}]
    assert statement["predicate"] == {"said": 1}


def test_who_signed_is_told_with_the_fingerprint_that_ssh_keygen_shows(tmp_path: Path, key: Path) -> None:
    found = opened(document(key), TYPE, trusting(tmp_path, key)).signer(DAY)
    assert (found.key, found.principals) == (fingerprint_of(key), ("release@example.org",))


def test_a_key_in_pem_signs_too(tmp_path: Path) -> None:
    pem = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", pem], check=True)
    made = signing_key(pem)
    line = f"a ssh-ed25519 {b64encode(made.blob).decode()}"
    data = signed([SUBJECT], TYPE, {}, made)
    assert opened(data, TYPE, trust(signers(tmp_path / "signers", line))).signer(DAY).key == fingerprint(made.blob)


def test_an_agent_signs_for_a_key_with_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = make_key(tmp_path / "locked", passphrase="secret")
    with pytest.raises(SigningKeyError, match="passphrase") as error:
        signing_key(locked)
    assert "ssh-add" in error.value.hint
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(SigningKeyError, match="no SSH agent"):
        signing_key(Path(f"{locked}.pub"))
    with agent(tmp_path / "agent") as place:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
        with pytest.raises(SigningKeyError, match="does not sign"):
            document(Path(f"{locked}.pub"))
        ask = tmp_path / "ask"
        ask.write_text("#!/bin/sh\necho secret\n")
        ask.chmod(0o700)
        answers = {**os.environ, "SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"}
        subprocess.run(["ssh-add", "-q", locked], check=True, env=answers)
        data = document(Path(f"{locked}.pub"))
    assert opened(data, TYPE, trusting(tmp_path, locked)).signer(DAY).key == fingerprint_of(locked)
    with pytest.raises(SigningKeyError, match="does not answer"):
        document(Path(f"{locked}.pub"))


@pytest.mark.parametrize("kind", ["ecdsa", "rsa"])
def test_a_key_of_another_type_is_refused(tmp_path: Path, kind: str) -> None:
    made = make_key(tmp_path / "key", kind)
    with pytest.raises(SigningKeyError, match="not an Ed25519 key"):
        signing_key(made)
    assert trusting(tmp_path, made).keys == ()


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    for text in ("", "nothing", "ssh-ed25519 AAAA", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"):
        (tmp_path / "key").write_text(text)
        with pytest.raises(SigningKeyError):
            signing_key(tmp_path / "key")
    with pytest.raises(SigningKeyError, match="cannot be read"):
        signing_key(tmp_path / "none")


def test_a_changed_document_is_refused_whatever_was_changed(tmp_path: Path, key: Path, other: Path) -> None:
    data, whole = document(key), trusting(tmp_path, key)
    told = json.loads(data)
    payload = b64encode(b64decode(told["payload"]).replace(b'"said":1', b'"said":2')).decode()
    with pytest.raises(WrongSignature):
        opened(changed(data, payload=payload), TYPE, whole)
    later = json.loads(signed([SUBJECT], TYPE, {"said": 3}, signing_key(key)))
    with pytest.raises(WrongSignature):
        opened(changed(data, signatures=later["signatures"]), TYPE, whole)
    with pytest.raises(MalformedStatement):
        opened(changed(data, payloadType="text/plain"), TYPE, whole)
    with pytest.raises(MalformedStatement):
        opened(changed(data, signatures=[]), TYPE, whole)
    with pytest.raises(MalformedStatement, match="of type https"):
        opened(data, "https://example.org/other", whole)
    with pytest.raises(MalformedStatement):
        opened(changed(data, signatures=told["signatures"] * 65), TYPE, whole)
    for junk in (b"", b"{}", b"[1]", b"\xff", b"[" * 5000):
        with pytest.raises(MalformedStatement):
            opened(junk, TYPE, whole)


def test_another_key_is_not_trusted_even_under_the_name_of_a_trusted_one(
    tmp_path: Path, key: Path, other: Path
) -> None:
    whole, data = trusting(tmp_path, key), document(other)
    with pytest.raises(UntrustedKey, match=fingerprint_of(other).replace("+", r"\+")):
        opened(data, TYPE, whole)
    signature = json.loads(data)["signatures"][0]
    with pytest.raises(WrongSignature):
        opened(changed(data, signatures=[{**signature, "keyid": fingerprint_of(key)}]), TYPE, whole)
    with pytest.raises(UntrustedKey):
        opened(changed(data, signatures=[{"sig": signature["sig"]}]), TYPE, whole)
    both = [signature, json.loads(document(key))["signatures"][0]]
    assert opened(changed(document(key), signatures=both), TYPE, whole).signer(DAY).key == fingerprint_of(key)


def test_without_a_list_nobody_is_trusted() -> None:
    with pytest.raises(UsageError, match="no signers are trusted"):
        trust(None)


def test_a_revoked_key_is_refused_with_or_without_its_name(tmp_path: Path, key: Path) -> None:
    allowed = signers(tmp_path / "signers", f"a {public(key)}")
    revoked = signers(tmp_path / "revoked", "# stolen", public(key))
    data = document(key)
    bare = changed(data, signatures=[{"sig": json.loads(data)["signatures"][0]["sig"]}])
    for each in (data, bare):
        assert opened(each, TYPE, trust(allowed)).signer(DAY).principals == ("a",)
        with pytest.raises(RevokedKey):
            opened(each, TYPE, trust(allowed, revoked))


@pytest.mark.parametrize(
    ("options", "moment", "valid"),
    [
        ('valid-before="20260301Z"', datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC), True),
        ('valid-before="20260301Z"', datetime(2026, 3, 1, tzinfo=UTC), False),
        ('valid-after="202603011200Z"', datetime(2026, 3, 1, 11, 59, 59, tzinfo=UTC), False),
        ('valid-after="202603011200Z"', DAY, True),
        ('valid-after="20260301120001Z",valid-before="20270101Z"', DAY, False),
        ('namespaces="git,abistore",valid-after="20260101Z"', DAY, True),
    ],
)
def test_a_key_is_valid_at_the_time_that_its_document_states(
    tmp_path: Path, key: Path, options: str, moment: datetime, valid: bool
) -> None:
    found = opened(document(key), TYPE, trusting(tmp_path, key, options))
    if valid:
        assert found.signer(moment).key == fingerprint_of(key)
    else:
        with pytest.raises(ExpiredKey, match="was not valid"):
            found.signer(moment)


def test_a_time_without_zone_is_local(tmp_path: Path, key: Path) -> None:
    found = trusting(tmp_path, key, 'valid-after="20260301"').keys[0].after
    assert found == datetime(2026, 3, 1).astimezone()


def test_a_document_of_the_future_is_refused(tmp_path: Path, key: Path) -> None:
    found = opened(document(key), TYPE, trusting(tmp_path, key))
    assert found.signer(DAY + timedelta(minutes=4), now=DAY)
    with pytest.raises(ExpiredKey, match="later time than now"):
        found.signer(DAY + timedelta(minutes=6), now=DAY)


def test_lines_for_other_uses_trust_nothing_here(tmp_path: Path, key: Path) -> None:
    for options in ('namespaces="git"', 'namespaces="*,!abistore"', "cert-authority"):
        assert trusting(tmp_path, key, options).keys == (), options
    assert len(trusting(tmp_path, key, 'namespaces="abi*"').keys) == 1
    assert trusting(tmp_path, key, principal='"a b",c').keys[0].principals == "a b,c"


@pytest.mark.parametrize(
    "line",
    [
        "release@example.org",
        "ssh-ed25519 AAAA",
        "a ssh-ed25519 AAAA",
        "a ssh-ed25519",
        'a valid-until="20260101" ssh-ed25519 AAAA',
        'a valid-after="2026" {key}',
        'a valid-after="20261301" {key}',
    ],
)
def test_a_malformed_list_is_an_error_with_its_line(tmp_path: Path, key: Path, line: str) -> None:
    with pytest.raises(SignersError, match="signers:2"):
        trust(signers(tmp_path / "signers", "# ours", line.format(key=public(key))))


def test_ssh_keygen_reads_the_same_lists(tmp_path: Path, key: Path) -> None:
    """What it makes of a signature of its own by the key, at a time, is what is made of ours."""
    (tmp_path / "text").write_text("said")
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "abistore", "-f", key, tmp_path / "text"], check=True)
    for options in (
        "",
        'namespaces="abistore"',
        'namespaces="git"',
        'valid-before="20260301Z"',
        'valid-after="20260302Z"',
        'namespaces="git,abistore",valid-after="20260101Z",valid-before="20270101Z"',
    ):
        trusted = trusting(tmp_path, key, options).keys
        ours = any(each.is_valid(DAY) for each in trusted)
        where = ("-f", tmp_path / "signers", "-I", "release@example.org", "-n", "abistore", "-s", tmp_path / "text.sig")
        done = subprocess.run(
            ["ssh-keygen", "-Y", "verify", *where, "-Overify-time=20260301120000Z"],
            input=b"said",
            capture_output=True,
            check=False,
        )
        assert (done.returncode == 0) is ours, options
