"""Signed documents: DSSE envelopes, Ed25519 keys of OpenSSH, and the signers that are trusted.

An envelope (DSSE 1.0) holds an in-toto Statement v1, and Ed25519 signatures of it. Trusted keys are listed as
``ssh-keygen`` lists them (ALLOWED SIGNERS in ssh-keygen(1)). No key is trusted without such a list.
"""

from __future__ import annotations

import binascii
import hashlib
import os
import re
import socket
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from abistore.errors import (
    ExpiredKey,
    ExtraMissing,
    MalformedStatement,
    NotVerified,
    RevokedKey,
    SignersError,
    SigningKeyError,
    Unsigned,
    UntrustedKey,
    UsageError,
    WrongSignature,
)
from abistore.files import open_file
from abistore.installing import how_to_install
from abistore.model.history import Release
from abistore.model.snapshot import Moment, ReleaseTag, TagSignature, encode
from abistore.model.statements import WITHDRAWN

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
NAMESPACE: Final = "abistore"
"""What ``namespaces=`` of a trusted signer must allow."""

KEY_TYPE: Final = b"ssh-ed25519"
MOST_KEY_BYTES: Final = 1 << 16
MOST_BYTES: Final = 64 << 20
MOST_SIGNATURES: Final = 64
SKEW: Final = timedelta(minutes=5)
"""How far the clock of a signer may be ahead."""

SIGN_REQUEST, SIGN_RESPONSE = 13, 14
"""Numbers of messages to and from an SSH agent (draft-ietf-sshm-ssh-agent, section 6.1)."""

AGENT_SECONDS: Final = 60
"""An agent may ask a person to confirm."""


class EnvelopeSignature(msgspec.Struct, frozen=True):
    """A signature in an envelope. ``keyid`` is the fingerprint of the key that its maker names: a hint, no proof."""

    sig: bytes
    keyid: str = ""


class SignedEnvelope(msgspec.Struct, frozen=True, rename="camel"):
    """A DSSE envelope: a document and its signatures, as JSON with Base64."""

    payload: bytes
    payload_type: str
    signatures: Annotated[tuple[EnvelopeSignature, ...], msgspec.Meta(max_length=MOST_SIGNATURES)]

    @property
    def signed_bytes(self) -> bytes:
        """What the signatures are of (DSSE's pre-authentication encoding)."""
        kind = self.payload_type.encode()
        return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(self.payload), self.payload)


class FileSubject(msgspec.Struct, frozen=True):
    """What a statement is about: a name, and digests by algorithm."""

    name: str
    digest: Mapping[str, str]


class InTotoStatement(msgspec.Struct, frozen=True, rename="camel"):
    """An in-toto Statement v1: subjects, and a predicate of a type."""

    subject: tuple[FileSubject, ...]
    predicate_type: str
    predicate: msgspec.Raw
    type: str = msgspec.field(default=STATEMENT_TYPE, name="_type")


class Signer(msgspec.Struct, frozen=True):
    """A key that signed: its fingerprint, and the principals that the list of trusted signers gives it."""

    key: str
    principals: tuple[str, ...]


class TrustedKey(msgspec.Struct, frozen=True):
    """A line of a list of trusted signers: whose key, and from when to when it is valid."""

    principals: str
    blob: bytes
    after: datetime | None = None
    before: datetime | None = None

    def is_valid(self, moment: datetime) -> bool:
        """Whether the key may sign at a moment."""
        return (self.after is None or moment >= self.after) and (self.before is None or moment < self.before)


class Trust(msgspec.Struct, frozen=True):
    """The keys that are trusted, and those that are trusted no more, whenever they signed."""

    keys: tuple[TrustedKey, ...]
    revoked: frozenset[bytes] = frozenset()


class OpenedStatement(NamedTuple):
    """A statement whose signature is valid, and the lines of the list that trust its key."""

    statement: InTotoStatement
    trusted: tuple[TrustedKey, ...]

    def signer(self, moment: datetime, now: datetime | None = None) -> Signer:
        """Who signed, where the key was valid at ``moment``, at which it signed by its own word.

        Raises :class:`ExpiredKey`.
        """
        key = fingerprint(self.trusted[0].blob)
        if moment > (now or datetime.now(UTC)) + SKEW:
            raise ExpiredKey(f"the statement is signed with a later time than now: {moment:%Y-%m-%dT%H:%M:%SZ}")
        valid = [each.principals for each in self.trusted if each.is_valid(moment)]
        if not valid:
            raise ExpiredKey(f"{key} was not valid when it signed, at {moment:%Y-%m-%dT%H:%M:%SZ}")
        return Signer(key, tuple(dict.fromkeys(valid)))


class SigningKey(NamedTuple):
    """A key that signs: from a file, or held by an agent, which then is asked at ``agent``."""

    blob: bytes
    private: Any = None
    agent: str = ""

    def sign(self, data: bytes) -> bytes:
        """The Ed25519 signature of ``data``. Raises :class:`SigningKeyError`."""
        if not self.agent:
            signature: bytes = self.private.sign(data)
            return signature
        try:
            return _signed_by_agent(self.agent, self.blob, data)
        except (OSError, struct.error) as error:
            raise SigningKeyError(
                f"the SSH agent does not answer: {error}", "is SSH_AUTH_SOCK that of an agent?"
            ) from error


def unsigned(subjects: Iterable[FileSubject], predicate_type: str, predicate: object) -> SignedEnvelope:
    """A statement in an envelope without signatures."""
    statement = InTotoStatement(tuple(subjects), predicate_type, msgspec.Raw(encode(predicate)))
    return SignedEnvelope(encode(statement), PAYLOAD_TYPE, ())


def signed(subjects: Iterable[FileSubject], predicate_type: str, predicate: object, key: SigningKey) -> bytes:
    """A statement in an envelope, signed with ``key``, as JSON. Raises :class:`SigningKeyError`."""
    bare = unsigned(subjects, predicate_type, predicate)
    signature = EnvelopeSignature(key.sign(bare.signed_bytes), fingerprint(key.blob))
    return encode(msgspec.structs.replace(bare, signatures=(signature,)))


def opened(data: bytes, predicate_type: str, trust: Trust) -> OpenedStatement:
    """The statement in an envelope that a trusted key signed.

    Raises :class:`MalformedStatement`, :class:`UntrustedKey`, :class:`RevokedKey` and :class:`WrongSignature`.
    """
    try:
        envelope = msgspec.json.decode(data, type=SignedEnvelope)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedStatement(f"not a DSSE envelope: {error}") from None
    if envelope.payload_type != PAYLOAD_TYPE or not envelope.signatures:
        raise MalformedStatement("the envelope holds no signed in-toto statement")
    return _opened(envelope, predicate_type, trust)


def _opened(envelope: SignedEnvelope, predicate_type: str, trust: Trust) -> OpenedStatement:
    blob = _signing_blob(envelope, trust)
    return OpenedStatement(_statement(envelope.payload, predicate_type), tuple(_of_key(trust.keys, blob)))


def _statement(payload: bytes, predicate_type: str) -> InTotoStatement:
    try:
        statement = msgspec.json.decode(payload, type=InTotoStatement)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedStatement(f"the signed document is not an in-toto statement: {error}") from None
    if statement.type != STATEMENT_TYPE:
        raise MalformedStatement(f"the signed document is of type {statement.type}, not {STATEMENT_TYPE}")
    if statement.predicate_type != predicate_type:
        raise MalformedStatement(f"the statement is of type {statement.predicate_type}, not {predicate_type}")
    return statement


def _signing_blob(envelope: SignedEnvelope, trust: Trust) -> bytes:
    """The trusted key that signed an envelope."""
    known = dict.fromkeys((*(each.blob for each in trust.keys), *trust.revoked))
    named, revoked = list[str](), list[str]()
    for signature in envelope.signatures:
        for blob in known:
            if signature.keyid not in {"", fingerprint(blob)}:
                continue
            if not _is_signed(envelope, signature, blob):
                named += [signature.keyid] if signature.keyid else []
            elif blob in trust.revoked:
                revoked.append(fingerprint(blob))
            else:
                return blob
    if revoked:
        raise RevokedKey(f"{revoked[0]} is revoked")
    if named:
        raise WrongSignature(f"the signature is not that of {named[0]}: the document was changed after it was signed")
    raise UntrustedKey(
        f"no trusted key signed it: {', '.join(each.keyid or 'no key named' for each in envelope.signatures)}"
    )


def _is_signed(envelope: SignedEnvelope, signature: EnvelopeSignature, blob: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # the extra `sign`
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(_strings(blob)[1]).verify(signature.sig, envelope.signed_bytes)
    except InvalidSignature:
        return False
    return True


def _of_key(keys: Iterable[TrustedKey], blob: bytes) -> Iterator[TrustedKey]:
    return (each for each in keys if each.blob == blob)


# --- tags of releases ---------------------------------------------------------------------------------------------

TAG: Final = "https://git.example.org/abistore/release-tag/v1"
"""The type of the predicate that a signed tag stands for."""


class TagPredicate(msgspec.Struct, frozen=True):
    """What is signed of a tag: the tag, and the release with the digest of its contents."""

    signed: Moment
    tag: str
    note: str
    library: str
    version: str
    target: str
    profile: str
    digest: str


def signed_tag(release: Release, tag: ReleaseTag, key: SigningKey) -> ReleaseTag:
    """The tag of a release with a signature. Raises :class:`SigningKeyError`."""
    moment = datetime.now(UTC).replace(microsecond=0)
    signature = key.sign(_tagged(release, tag, moment).signed_bytes)
    return msgspec.structs.replace(
        tag, signature=TagSignature(moment, fingerprint(key.blob), b64encode(signature).decode())
    )


def signer_of(release: Release, trust: Trust) -> Signer:
    """Who signed a tag of a release, if a trusted key did. One that withdraws the release does not count.

    Raises :class:`Unsigned` if no tag is signed, else the kinds of :class:`NotVerified` that :func:`opened` does.
    """
    failure: NotVerified = Unsigned(f"{release.reference}: no tag of the release is signed")
    for tag in release.tags:
        if tag.signature is None or tag.name in WITHDRAWN:
            continue
        try:
            return _signer(release, tag, tag.signature, trust)
        except NotVerified as error:
            failure = type(error)(f"{release.reference}, tag {tag.name}: {error.message}", error.hint)
    raise failure


def _signer(release: Release, tag: ReleaseTag, said: TagSignature, trust: Trust) -> Signer:
    signature = EnvelopeSignature(b64decode(said.sig), said.key)
    envelope = msgspec.structs.replace(_tagged(release, tag, said.signed), signatures=(signature,))
    return _opened(envelope, TAG, trust).signer(said.signed)


def _tagged(release: Release, tag: ReleaseTag, moment: datetime) -> SignedEnvelope:
    """What a signed tag stands for. It is made again to be verified, from the release as it is stored then."""
    line, file = release.line, release.provenance
    names = (line.library, release.version, line.target, line.profile)
    predicate = TagPredicate(moment, tag.name, tag.note, *names, release.digest)
    subjects = [FileSubject(file.file or line.library, {"sha256": file.sha256})] if file.sha256 else []
    return unsigned(subjects, TAG, predicate)


# --- keys ---------------------------------------------------------------------------------------------------------


def signing_key(path: Path) -> SigningKey:
    """The Ed25519 key in a file: a private key of OpenSSH or PEM, or the public key of one that an SSH agent holds.

    Raises :class:`SigningKeyError`, and :class:`ExtraMissing` where the package cryptography is not installed.
    """
    data = read(path, MOST_KEY_BYTES, SigningKeyError)
    if data.startswith(KEY_TYPE + b" "):
        agent = os.environ.get("SSH_AUTH_SOCK", "")
        if not agent:
            raise SigningKeyError(
                f"{path}: a public key, and no SSH agent runs", "start one, and `ssh-add` the private key"
            )
        return SigningKey(_blob(data.decode("ascii", "replace").split()[1], str(path), SigningKeyError), agent=agent)
    return _private_key(path, data)


def _private_key(path: Path, data: bytes) -> SigningKey:
    check_installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    is_openssh = b"OPENSSH PRIVATE KEY" in data
    load = serialization.load_ssh_private_key if is_openssh else serialization.load_pem_private_key
    try:
        private = load(data, None)
    except TypeError:
        hint = f"ssh-add {path}, and name {path}.pub: the agent signs"
        raise SigningKeyError(f"{path}: the key has a passphrase", hint) from None
    except (ValueError, UnsupportedAlgorithm):
        raise SigningKeyError(f"{path}: not a private key of OpenSSH or PEM") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise SigningKeyError(f"{path}: not an Ed25519 key")
    raw = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return SigningKey(_string(KEY_TYPE) + _string(raw), private)


def check_installed() -> None:
    """Raise :class:`ExtraMissing` unless signatures can be made and verified."""
    if find_spec("cryptography") is None:
        raise ExtraMissing("signatures need the package cryptography", f"install it: {how_to_install('sign')}")


def fingerprint(blob: bytes) -> str:
    """The fingerprint of a public key, as ``ssh-keygen -l`` shows it."""
    return f"SHA256:{b64encode(hashlib.sha256(blob).digest()).decode().rstrip('=')}"


def _signed_by_agent(agent: str, blob: bytes, data: bytes) -> bytes:
    request = bytes([SIGN_REQUEST]) + _string(blob) + _string(data) + struct.pack(">I", 0)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(AGENT_SECONDS)
        connection.connect(agent)
        connection.sendall(_string(request))
        (size,) = struct.unpack(">I", _received(connection, 4))
        answer = _received(connection, min(size, MOST_KEY_BYTES))
    if answer[:1] != bytes([SIGN_RESPONSE]):
        raise SigningKeyError(f"the SSH agent does not sign with {fingerprint(blob)}", "`ssh-add -l` lists its keys")
    return _strings(_strings(answer[1:])[0])[1]


def _received(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = connection.recv(size - len(found))
        if not piece:
            raise ConnectionError("it closed the connection")
        found += piece
    return found


def _string(data: bytes) -> bytes:
    """A string as SSH writes it (RFC 4251, section 5)."""
    return struct.pack(">I", len(data)) + data


def _strings(data: bytes) -> list[bytes]:
    """The strings that follow each other. Raises :class:`struct.error` where one is cut off."""
    found, place = list[bytes](), 0
    while place < len(data):
        (size,) = struct.unpack_from(">I", data, place)
        (piece,) = struct.unpack_from(f"{size}s", data, place + 4)
        found.append(piece)
        place += 4 + size
    return found


# --- trust --------------------------------------------------------------------------------------------------------

WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')
OPTION = re.compile(r'([\w-]+)(?:="([^"]*)")?(?:,|$)')
DAYS = re.compile(r"(\d{8})(\d{4}(?:\d{2})?)?(Z?)")


def trust(allowed: Path | None, revoked: Path | None = None) -> Trust:
    """The trust that two files declare: allowed signers as OpenSSH lists them, and revoked public keys, one a line.

    Raises :class:`UsageError` without a list, :class:`SignersError` for one that cannot be read, and
    :class:`ExtraMissing`.
    """
    if allowed is None:
        raise UsageError("no signers are trusted", "list them: --allowed-signers FILE, or ABISTORE_ALLOWED_SIGNERS")
    check_installed()
    keys = tuple(key for place, line in _lines(allowed) for key in _trusted(place, line))
    gone = (_revoked(place, line) for place, line in _lines(revoked)) if revoked else ()
    return Trust(keys, frozenset(blob for blob in gone if blob))


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that say something, each with its place."""
    text = read(path, MOST_BYTES, SignersError).decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{path}:{number}", line


def _trusted(place: str, line: str) -> Iterator[TrustedKey]:
    """The key of a line; none where it is of another type, for another namespace, or an authority that certifies."""
    principals, *words = WORD.findall(line)
    options = "" if words and words[0] in _TYPES else words.pop(0) if words else ""
    said = _options(place, options)
    if len(words) < 2 or words[0] not in _TYPES:
        raise SignersError(f"{place}: not a line of allowed signers: {line[:80]}")
    spaces = said.get("namespaces", NAMESPACE).split(",")
    if words[0] != KEY_TYPE.decode() or "cert-authority" in said or not _matches(NAMESPACE, spaces):
        return
    after, before = (_moment(place, said[each]) if each in said else None for each in ("valid-after", "valid-before"))
    yield TrustedKey(principals.replace('"', ""), _blob(words[1], place, SignersError), after, before)


_TYPES: Final = frozenset(
    {
        *("ssh-ed25519", "ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
        *("sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"),
    }
)
_OPTIONS: Final = frozenset({"cert-authority", "namespaces", "valid-after", "valid-before"})


def _options(place: str, text: str) -> dict[str, str]:
    found = {name.lower(): value for name, value in OPTION.findall(text)}
    rest = OPTION.sub("", text)
    if rest or not found.keys() <= _OPTIONS:
        raise SignersError(f"{place}: unknown option: {rest or ', '.join(sorted(found.keys() - _OPTIONS))}")
    return found


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of a pattern list, in which a ``!`` excludes (PATTERNS in ssh_config(5))."""
    every = tuple(patterns)
    denied = any(fnmatchcase(name, each[1:]) for each in every if each.startswith("!"))
    return not denied and any(fnmatchcase(name, each) for each in every)


def _moment(place: str, text: str) -> datetime:
    """``YYYYMMDD[HHMM[SS]][Z]``, in local time without Z, as ssh-keygen reads it."""
    found = DAYS.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        day, clock, zone = found.groups()
        moment = datetime.strptime(f"{day}{(clock or '').ljust(6, '0')}", "%Y%m%d%H%M%S")
    except ValueError:
        raise SignersError(f"{place}: not a time: {text}", "write YYYYMMDD or YYYYMMDDHHMMSS, with Z for UTC") from None
    return moment.replace(tzinfo=UTC) if zone else moment.astimezone(UTC)


def _revoked(place: str, line: str) -> bytes | None:
    words = line.split()
    if len(words) < 2 or words[0] not in _TYPES:
        raise SignersError(
            f"{place}: not a public key: {line[:80]}", "list public keys, one a line: ssh-ed25519 AAAA..."
        )
    return _blob(words[1], place, SignersError) if words[0] == KEY_TYPE.decode() else None


def _blob(text: str, place: str, error: type[SignersError] | type[SigningKeyError]) -> bytes:
    try:
        blob = b64decode(text, validate=True)
        kind, raw = _strings(blob)
    except (binascii.Error, struct.error, ValueError):
        raise error(f"{place}: not an Ed25519 public key") from None
    if kind != KEY_TYPE or len(raw) != 32:
        raise error(f"{place}: not an Ed25519 public key")
    return blob


def read(path: Path, most: int, error: type[SignersError] | type[SigningKeyError] | type[MalformedStatement]) -> bytes:
    """The bytes of a file. Raises ``error``."""
    try:
        with os.fdopen(open_file(path), "rb") as file:
            data = file.read(most + 1)
    except OSError as failure:
        raise error(f"{path}: cannot be read: {failure.strerror}") from None
    if len(data) > most:
        raise error(f"{path}: is larger than {most:,} bytes")
    return data
