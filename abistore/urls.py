"""Hiding secrets in the URLs and connection strings of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from abistore.patterns import pattern

EXAMPLE = "e.g. postgresql://user@host/database, or a path"
"""How to name a database."""

HIDDEN = "***"
"""What stands for a secret."""

_WEB = pattern(r"(?=\b(?:https?|ftps?|wss?)://)", re.IGNORECASE)
"""Where a web URL begins: its user may be a token, and its path may contain ``@``."""

_AUTHORITY = pattern(r"([^/]*//)([^/?#]*)")
_PORT = pattern(r"[^:]*:?\d*\Z")
_SINGLE_COLON = pattern(r"(?<!:):(?!:)")
_PARAMETER = pattern(
    r"((?:pass(?!file)|pwd|secret|token|cred|(?:api|access|private|account|client|server)[_-]?key|(?<=[?&])key|auth|signature|\bsig|session|jwt|bearer)"
    r"[\w.%-]{0,40}?\s?(?:=|%3D)\s?)"  # the parameter's name up to its value
    r"(?:'(?:[^'\\]|\\.){0,500}'|[^\s&]+?(?=[:,;.)]{0,2}(?:[\s&]|\Z)))",
    re.IGNORECASE,
)
"""A parameter of a URL (``?password=``) or of libpq's connection strings (``password = 'a b'``)."""


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` with ``***`` for passwords and tokens: those of users and parameters in URLs, and ``secrets``.

    What only looks like a URL (``pg-sql://u:secret@``, ``u:secret@host``) is masked too: better too much than too
    little.
    """
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN) if len(secret) > 3 else re.sub(_alone(secret), HIDDEN, text)
    if "@" in text:
        text = "".join(_without_users(word) for word in re.split(r"(\s+)", text))
    return _PARAMETER.sub(rf"\1{HIDDEN}", text) if "=" in text or "%3" in text else text


def _alone(secret: str) -> str:
    return rf"(?<!\w){re.escape(secret)}(?!\w)"


def _without_users(word: str) -> str:
    """A word without what stands before ``@``, however many URLs it lists."""
    if "@" not in word:
        return word
    first, *web = _WEB.split(word)
    return "".join((_without_user(first), *map(_without_web_user, web)))


def _without_web_user(url: str) -> str:
    """``https://***@host``. If the authority makes no sense, the password has a slash in it."""
    start = _AUTHORITY.match(url)
    assert start is not None
    user, at, _ = start[2].rpartition("@")
    if at:
        return f"{start[1]}{HIDDEN}{url[start.end(1) + len(user) :]}"
    if "@" not in url or _PORT.match(start[2]):
        return url
    return f"{start[1]}{HIDDEN}@{url.rpartition('@')[2]}"


def _without_user(word: str) -> str:
    """``postgresql://user:***@host``, whose password may have any character; ``user:***@host`` without a scheme too.

    ``geo::area@VERSION`` and ``libgeo@baseline:release`` have no secret.
    """
    user, at, host = word.rpartition("@")
    scheme, mark, rest = user.partition("://")
    if mark:
        name, colon, _ = rest.partition(":")
        return f"{scheme}{mark}{name}:{HIDDEN}{at}{host}" if colon else word
    single = _SINGLE_COLON.search(user)
    if single is None or single.end() == len(user) or "@" in user[: single.start()]:
        return word
    return f"{user[: single.end()]}{HIDDEN}{at}{host}"
