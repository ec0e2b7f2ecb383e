"""Who asks: over HTTP the subject of a token, which may write or not; else whoever started the server."""

from __future__ import annotations

from typing import NamedTuple

from abistore.mcp.settings import WRITE


class Asker(NamedTuple):
    """``subject`` is empty where nobody has to say who they are."""

    subject: str
    may_write: bool


def asker() -> Asker:
    """Who asks in the call that is being answered."""
    from mcp.server.auth.middleware.auth_context import get_access_token

    token = get_access_token()
    return Asker("", True) if token is None else Asker(token.subject or "", WRITE in token.scopes)
