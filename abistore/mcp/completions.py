"""What a client may offer for an argument of a prompt or of an address: what is stored, and what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from abistore.interface import AbistoreError, changes, libraries, references
from abistore.mcp.call import Call
from abistore.mcp.prompts.declaration import LONGEST
from abistore.mcp.resources.pages import PAGES

COMPLETE = "completion/complete"
MOST = 100
"""How many the protocol allows."""

VERSIONS = frozenset({"version", "from_version", "to_version"})
OPERANDS = frozenset({"new_input", "old_input"})


def candidates(call: Call, *, argument: str, start: str, given: Mapping[str, str]) -> list[str]:
    """Words that an argument may have, which begin with ``start``; ``given`` are the arguments that stand already.

    Where the store cannot be read there are none: nobody is told of errors by completions.
    """
    try:
        found = _known(call, argument, start, given)
    except AbistoreError:
        return []
    return [word for word in dict.fromkeys(found) if word.startswith(start) and _is_shown(word)][:MOST]


def _is_shown(word: str) -> bool:
    """Whether a word can stand in a list: what was stored by others may be long, or hide characters."""
    return word.isprintable() and len(word) <= LONGEST


def _known(call: Call, argument: str, start: str, given: Mapping[str, str]) -> Iterable[str]:
    if argument == "page":
        return sorted(PAGES)
    if argument == "kind":
        return sorted(one.kind for one in changes())
    with call.store() as store:
        if argument == "library":
            return libraries(database=store)
        if argument in VERSIONS and given.get("library"):
            library = given["library"]
            return [word.removeprefix(f"{library}@") for word in references(f"{library}@{start}", database=store)]
        return references(start, database=store) if argument in OPERANDS else ()
