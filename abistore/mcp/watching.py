"""A short digest of what each address says now: subscribers hear of addresses whose digest changed."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from abistore.interface import AbistoreError, db_audit, libraries
from abistore.mcp.answers.units import encoded
from abistore.mcp.call import Call
from abistore.mcp.refusals import Refusal, refusal_of
from abistore.mcp.resources.all import RESOURCES

WATCH = "resources/watch"
SAID = frozenset({"NOT_FOUND", "INVALID_ARGUMENT", "AMBIGUOUS_REF", "LIMIT"})
"""Refusals that are an answer: the address has nothing now, and may have something later."""


class Look(msgspec.Struct, frozen=True):
    """What a store and some addresses say now.

    ``mark`` is another one after every write; ``file`` is the path of an SQLite store. ``libraries`` is a digest of
    their names. ``texts`` has a digest for each address, and nothing for one that cannot be read now. Both are empty
    where ``mark`` is the one that the caller knows.
    """

    mark: str
    file: str | None
    libraries: str = ""
    texts: dict[str, str | None] = {}


decode_seen = msgspec.json.Decoder(Look).decode


def seen(call: Call, *, mark: str, addresses: Mapping[str, tuple[str, dict[str, str]]]) -> Look:
    """What ``addresses`` say, each the name of a resource with its arguments. Raises :class:`AbistoreError`.

    The mark is read first: what is written meanwhile has another one.
    """
    with call.store() as store:
        now = _digest(db_audit(limit=1, database=store))
        file = None if "://" in store.where else store.where
        if now == mark:
            return Look(now, file)
        names = _digest(libraries(database=store))
        return Look(now, file, names, {uri: _text(call, *address) for uri, address in addresses.items()})


def _text(call: Call, resource: str, arguments: dict[str, str]) -> str | None:
    try:
        return _digest(RESOURCES[resource](call, **arguments))
    except Refusal as refused:
        refusal = refused
    except AbistoreError as error:
        refusal = refusal_of(error)
    return _digest((refusal.code, refusal.message)) if refusal.code in SAID else None


def _digest(value: Any) -> str:
    return blake2b(encoded(value), digest_size=8).hexdigest()
