"""Many exports that changed by one pattern: a few as examples, and which of them a side has."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.compare.context import Context
from abistore.model.blake2 import blake2b
from abistore.model.cpp_names.demangle import demangle
from abistore.model.names import Name

EXAMPLES = 3

DIGEST_SIZE = 8
"""In bytes."""


def examples(symbols: Sequence[str]) -> str:
    """The first few of ``symbols`` as sources write them: the variants of a constructor are one."""
    names: dict[str, None] = {}
    for symbol in symbols:
        name = demangle(symbol)
        if len(names) == EXAMPLES and name not in names:
            return f"{', '.join(names)}, ..."
        names[name] = None
    return ", ".join(names)


def identified_examples(symbols: Sequence[str]) -> str:
    """The first few of ``symbols``, and where there are more, how many and a digest of all.

    Who accepts a break accepts these symbols: another one among them makes another finding.
    """
    shown = examples(symbols)
    return f"{shown} {_all_of(sorted(set(symbols)))}" if shown.endswith(", ...") else shown


def abridged(texts: Sequence[str]) -> str:
    """The first few of ``texts``, and where there are more, how many and a digest of all, for the same reason."""
    shown = ", ".join(texts[:EXAMPLES])
    return f"{shown}, ... {_all_of(texts)}" if len(texts) > EXAMPLES else shown


def _all_of(texts: Sequence[str]) -> str:
    digest = blake2b("\0".join(texts).encode(), digest_size=DIGEST_SIZE).hexdigest()
    return f"({len(texts)}: {digest})"


def exports_called(symbols: Sequence[str], context: Context, *, new: bool = False) -> tuple[Name, ...]:
    """The functions and variables of these symbols that the old, or the new, side exports."""
    entries = (context.new if new else context.old).snapshot.entries.get("symbol", {})
    names = (Name(kind, symbol) for symbol in symbols for kind in ("function", "variable"))
    return tuple(name for name in names if name in entries)
