"""Bearer tokens: who may ask over HTTP, and for what."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from abistore.errors import UsageError
from abistore.mcp.settings import READ, SCOPES, WRITE, variable

MOST_BYTES = 1 << 16
"""The largest file of tokens."""

MAKE = "make one: abistore mcp token FILE"
FORM = "a line is: TOKEN SUBJECT SCOPE, e.g. the one that `abistore mcp token FILE` writes"

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{32,512}")
_SUBJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class BearerToken(msgspec.Struct, frozen=True):
    """One token, known by its SHA-256 only; ``subject`` is whoever has it."""

    digest: bytes
    subject: str
    scopes: tuple[str, ...]


def tokens(file: Path | None) -> tuple[BearerToken, ...]:
    """The tokens in a file, else in the environment, which keeps none. Raises :class:`UsageError`.

    Processes that the server starts would inherit it.
    """
    name = variable("token")
    given = os.environ.pop(name, "")
    found = parsed(read(file), str(file)) if file else parsed(given, name)
    if not found:
        where = f"{file}: holds no token" if file else "no token: HTTP is served to those who have one"
        raise UsageError(where, f"{MAKE}, then start with --token-file FILE, or set {name}")
    return found


def parsed(text: str, where: str) -> tuple[BearerToken, ...]:
    """The tokens of a text, one a line: ``TOKEN SUBJECT SCOPE``. Raises :class:`UsageError`, which quotes nothing."""
    found: dict[bytes, BearerToken] = {}
    for number, words in _lines(text):
        token = _token(words, f"{where}: line {number}")
        if token.digest in found:
            raise UsageError(f"{where}: line {number}: the token stands twice", "one token has one line")
        found[token.digest] = token
    return tuple(found.values())


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if words := line.partition("#")[0].split():
            yield number, words


def _token(words: Sequence[str], where: str) -> BearerToken:
    token, subject, *scopes = [*words, "token"] if len(words) == 1 else words
    if not _TOKEN.fullmatch(token):
        raise UsageError(f"{where}: the token is not 32 to 512 letters and digits", FORM)
    if not _SUBJECT.fullmatch(subject):
        raise UsageError(f"{where}: the subject is not a name of letters, digits and . _ @ -", FORM)
    if not set(scopes) <= set(SCOPES):
        raise UsageError(f"{where}: an unknown scope", f"the scopes are {' and '.join(SCOPES)}")
    return BearerToken(_digest(token), subject, (READ, WRITE) if WRITE in scopes else (READ,))


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def matching(known: Sequence[BearerToken], given: str) -> BearerToken | None:
    """The token that was given, if it is known. How long this takes tells nothing about it."""
    digest, found = _digest(given), None
    for token in known:
        if hmac.compare_digest(token.digest, digest):
            found = token
    return found


def read(file: Path) -> str:
    """The text of a file that nobody else can read. Raises :class:`UsageError`."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as opened:
            check_private(file, os.fstat(opened.fileno()))
            return opened.read(MOST_BYTES).decode("utf-8", "replace")  # a token that is cut matches nothing
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file", f"make it: abistore mcp token {file}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: cannot be read", "check the path and its permissions") from error


def check_private(file: Path, status: os.stat_result) -> None:
    """Raises :class:`UsageError` for what is no file of ours alone."""
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{file}: is not a regular file", "name another file")
    if status.st_uid not in {os.geteuid(), 0}:
        raise UsageError(f"{file}: belongs to somebody else", "name a file of your own")
    if status.st_mode & 0o077:
        raise UsageError(f"{file}: others can read it", f"chmod 600 {file}, and replace the tokens in it")


def add(file: Path, subject: str, *, write: bool) -> str:
    """Add a new token to a file, which is made with mode 0600. The scope that it got. Raises :class:`UsageError`."""
    if not _SUBJECT.fullmatch(subject):
        raise UsageError("--subject: is not a name of letters, digits and . _ @ -", "e.g. --subject ci")
    scope = WRITE if write else READ
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        with os.fdopen(os.open(file, flags, 0o600), "ab") as opened:
            check_private(file, os.fstat(opened.fileno()))
            opened.write(f"{secrets.token_urlsafe(32)} {subject} {scope}\n".encode())
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: cannot be written", "check its folder and permissions") from error
    return scope
