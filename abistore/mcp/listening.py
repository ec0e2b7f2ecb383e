"""Where the server listens for HTTP, and the bearer tokens of those who may ask."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import socket
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import msgspec

from abistore.errors import UsageError
from abistore.mcp.settings import READ, SCOPES, WRITE, variable

MOST_TOKEN_BYTES = 1 << 16
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
    found = parsed_tokens(read(file), str(file)) if file else parsed_tokens(given, name)
    if not found:
        where = f"{file}: holds no token" if file else "no token: HTTP is served to those who have one"
        raise UsageError(where, f"{MAKE}, then start with --token-file FILE, or set {name}")
    return found


def parsed_tokens(text: str, where: str) -> tuple[BearerToken, ...]:
    """The tokens of a text, one a line: ``TOKEN SUBJECT SCOPE``. Raises :class:`UsageError`, which quotes nothing."""
    found: dict[bytes, BearerToken] = {}
    for number, words in _lines(text):
        token = _token(words, f"{where}: line {number}")
        if token.digest in found:
            raise UsageError(f"{where}: line {number}: duplicate token", "write each token once")
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
            return opened.read(MOST_TOKEN_BYTES).decode("utf-8", "replace")  # a token that is cut matches nothing
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


LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names of this machine for itself. No other site can make a browser send them as ``Host``."""

PATH = "/mcp"

_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
_ORIGIN = re.compile(rf"https?://{_HOST.pattern}")


HANDSHAKE = "2025-11-25"
"""The protocol of a client that does not say which one it speaks: the last one with a handshake."""

UNTOLD = {"name": "unknown", "version": "0"}
"""The client that does not say who it is."""


def with_defaults(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters of a handshake, with defaults for what the client leaves out."""
    told = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": UNTOLD}
    return {**told, **(params or {})}


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """The address, and what may reach it. Raises :class:`UsageError`.

    ``session_timeout`` is in seconds without a request, after which a session of the handshake era ends;
    ``max_sessions`` of them may be open, and a request has ``max_body_size`` bytes at most.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    allow_remote: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    session_timeout: float = 1800.0
    max_sessions: int = 100
    max_body_size: int = 4 << 20

    def __post_init__(self) -> None:
        """No check is switched off by a star or a zero."""
        for host in self.allowed_hosts:
            _check("--allowed-host", host, _HOST, "name the host that clients call, e.g. abi.example.org")
        for origin in self.allowed_origins:
            _check("--allowed-origin", origin, _ORIGIN, "name the whole origin, e.g. https://abi.example.org")
        for name in NUMBERS:
            if not getattr(self, name) > 0:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} {getattr(self, name)}: is not positive", f"leave {option} out, or raise it")

    def bind(self) -> socket.socket:
        """A socket that listens. Raises :class:`UsageError`."""
        family, address = self._address()
        if not ip_address(address[0].partition("%")[0]).is_loopback and not self.allow_remote:
            raise UsageError(
                f"--host {self.host}: can be reached from other machines",
                "pass --allow-remote if that is intended: everybody with a token can then connect",
            )
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(128)
        except OSError as error:
            found.close()
            raise UsageError(
                f"--host {self.host} --port {self.port}: {(error.strerror or 'cannot be listened on').lower()}",
                "give another --port; 0 takes a free one",
            ) from error
        return found

    def _address(self) -> tuple[socket.AddressFamily, tuple[str, int]]:
        try:
            found = socket.getaddrinfo(self.host or "?", self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, OverflowError) as error:
            raise UsageError(f"--host {self.host}: not an address of this machine", "e.g. --host 127.0.0.1") from error
        family, _, _, _, address = found[0]
        return family, (str(address[0]), int(address[1]))

    @property
    def hosts(self) -> list[str]:
        """What ``Host`` may say. Raises :class:`UsageError` where no name is known that clients could call."""
        named = [*self.allowed_hosts, *([] if self._is_any else [bracketed(self.host)])]
        if not named:
            raise UsageError(
                f"--host {self.host}: means every address of this machine, not a host name",
                "add --allowed-host with the name that clients use",
            )
        return list(_with_ports([*named, *(LOOPBACK if self._is_loopback else ())]))

    @property
    def origins(self) -> list[str]:
        """What ``Origin`` may say, where a browser asks."""
        local = [f"http://{host}" for host in LOOPBACK] if self._is_loopback else []
        return [*self.allowed_origins, *_with_ports(local)]

    def url(self, port: int) -> str:
        """The address for clients."""
        host = self.allowed_hosts[0] if self._is_any and self.allowed_hosts else bracketed(self.host)
        return f"http://{host if re.search(r':[0-9]+$', host) else f'{host}:{port}'}{PATH}"

    @property
    def _is_any(self) -> bool:
        return self.host in {"0.0.0.0", "::"}

    @property
    def _is_loopback(self) -> bool:
        return bracketed(self.host) in LOOPBACK


NUMBERS = ("session_timeout", "max_sessions", "max_body_size")
"""The settings that are numbers, all of them positive."""


def bracketed(host: str) -> str:
    """A host as URLs and ``Host`` have it."""
    return f"[{host}]" if ":" in host else host


def _with_ports(hosts: Iterable[str]) -> Iterable[str]:
    for host in dict.fromkeys(hosts):
        yield host
        if not re.search(r":\d+$", host):
            yield f"{host}:*"


def _check(option: str, given: str, form: re.Pattern[str], hint: str) -> None:
    if not form.fullmatch(given):
        raise UsageError(f"{option} {given}: is not one", hint)
