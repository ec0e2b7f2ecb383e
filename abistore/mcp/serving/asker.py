"""Who asks: over HTTP the subject of a token, which may write or not; else whoever started the server."""

from __future__ import annotations

import getpass
from typing import Any, NamedTuple, TypeAlias

from mcp.server.mcpserver import Context

from abistore.mcp.settings import WRITE
from abistore.model.words.characters import in_line

Asked: TypeAlias = Context[Any, Any]

LONGEST = 60
"""How many characters of a client's name are kept: it says what it likes."""


class Asker(NamedTuple):
    """``subject`` is empty where nobody has to say who they are."""

    subject: str
    may_write: bool


def asker() -> Asker:
    """Who asks in the call that is being answered."""
    from mcp.server.auth.middleware.auth_context import get_access_token

    token = get_access_token()
    return Asker("", True) if token is None else Asker(token.subject or "", WRITE in token.scopes)


def client(context: Asked | None) -> tuple[str, str]:
    """The client's name and the request's id; nothing where the server itself asks."""
    try:
        request = context.request_context if context else None
    except ValueError:
        request = None
    if request is None or context is None:
        return "", ""
    parameters = request.session.client_params
    return parameters.client_info.name if parameters else "", str(request.request_id)


def actor(context: Asked | None) -> str:
    """Who asks, as the store's audit names them: ``ana (mcp: claude-code)``."""
    who = in_line(asker().subject or _user(), LONGEST)
    name = in_line(client(context)[0], LONGEST)
    return f"{who} (mcp: {name})" if name else f"{who} (mcp)"


def _user() -> str:
    """Whoever started the server."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container it may be a number without a name
        return "?"
