"""Macros that list arguments: ``#define KEY_NAME "name", kind_text, 0`` gives a call several of them at once."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.constants.named import public_functions, written
from abistore.compare.context import Context
from abistore.compare.side import SideFacts, enumerated
from abistore.model.names import Name
from abistore.model.shapes import Named
from abistore.model.values.texts import TOKEN, constant
from abistore.model.words.telling import is_default


def is_other_argument(name: Name, context: Context) -> bool:
    """Whether a macro lists several arguments, and an enumerator among them gave way to another number.

    Functions take the enumeration, so that the list is made for calls. Nothing else can be done with several values,
    but to fill in an object.
    """
    old, new = (list(_listed(written(side, name).value or "")) for side in (context.old, context.new))
    if len(old) != len(new) or len(old) < 2 or is_default(name.spelling):
        return False
    return any(_is_other(*pair, context) for pair in zip(old, new, strict=True))


def _listed(text: str) -> Iterator[str]:
    """What stands between the commas of a list that has no parentheses or braces around it."""
    depth, found = 0, list[str]()
    for match in TOKEN.finditer(text):
        depth += (match[0] in "([{") - (match[0] in ")]}")
        if match[0] == "," and not depth:
            yield " ".join(found)
            found.clear()
        else:
            found.append(match[0])
    yield " ".join(found)


def _is_other(old: str, new: str, context: Context) -> bool:
    """Whether an enumerator that functions take is now another number."""
    before, after = Name("variable", old), _number(new, context.new)
    if before not in context.once(_taken) or after is None:
        return False
    return after != context.old.enumerators[before]


def _number(text: str, side: SideFacts) -> int | None:
    known = constant(text) or ""
    return side.enumerators.get(Name("variable", text), int(known) if known.isdecimal() else None)


def _taken(context: Context) -> frozenset[Name]:
    """The enumerators of the enumerations that public functions take, as programs name them."""
    side = context.old
    source = side.snapshot.entries.get("source", {})
    return frozenset(each for name in set(_enumerations(side)) for each, _ in enumerated(name, source.get(name, ())))


def _enumerations(side: SideFacts) -> Iterator[Name]:
    for function in public_functions(side):
        found = (side.types.bare(each)[0] for each in function.parameters)
        yield from (each.name for each in found if isinstance(each, Named) and each.name.kind == "enum")
