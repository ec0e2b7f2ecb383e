"""Where the server listens for HTTP, and which names and web pages may reach it there."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import ip_address

import msgspec

from abistore.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names of this machine for itself. No other site can make a browser send them as ``Host``."""

PATH = "/mcp"

_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
_ORIGIN = re.compile(rf"https?://{_HOST.pattern}")


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
                "say --allow-remote if that is meant: whoever has a token can then ask from there",
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
            raise UsageError(f"--host {self.host}: is no address of this machine", "e.g. --host 127.0.0.1") from error
        family, _, _, _, address = found[0]
        return family, (str(address[0]), int(address[1]))

    @property
    def hosts(self) -> list[str]:
        """What ``Host`` may say. Raises :class:`UsageError` where no name is known that clients could call."""
        named = [*self.allowed_hosts, *([] if self._is_any else [bracketed(self.host)])]
        if not named:
            raise UsageError(
                f"--host {self.host}: is every address of this machine, and no name",
                "add --allowed-host with the name that clients call",
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
