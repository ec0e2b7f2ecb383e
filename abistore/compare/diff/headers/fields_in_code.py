"""Which new data member the code of headers uses where it used another one before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.declared import Declared
from abistore.model.names import Name


def told_renames(record: Name, gone: Collection[str], come: Collection[str], context: Context) -> Mapping[str, str]:
    """The new names of members of ``record`` that are ``gone``, as bodies tell, or else what members begin with.

    A body that names as many members as before, with those that stayed in their places, does the same with the others:
    ``return count_;`` became ``return n_;``. Values tell where no two members begin with the same.
    """
    return _agreed(_in_bodies(record, gone, come, context)) or _agreed(_by_values(record, gone, come, context))


def _agreed(pairs: Iterator[tuple[str, str]]) -> Mapping[str, str]:
    """The pairs that no other one contradicts."""
    found = set(pairs)
    olds, news = [old for old, _ in found], [new for _, new in found]
    return {old: new for old, new in found if olds.count(old) == 1 and news.count(new) == 1}


def _in_bodies(
    record: Name, gone: Collection[str], come: Collection[str], context: Context
) -> Iterator[tuple[str, str]]:
    for user in context.old.reach.users(record):
        before, after = (_used(user, record, side) for side in (context.old, context.new))
        if len(before) != len(after):
            continue
        pairs = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        if all(old in gone and new in come for old, new in pairs):
            yield from pairs


def _used(user: Name, record: Name, side: SideFacts) -> list[str]:
    """The members of ``record`` that the inline body of ``user`` names, in their order."""
    inside = f"{record.spelling}::"
    texts = [shape for shape in side.variants("source", user) if isinstance(shape, Declared)]
    fields = (field for text in texts if text.body is not None for field in text.body.fields)
    return [field.removeprefix(inside) for field in fields if field.rpartition("::")[0] == record.spelling]


def _by_values(
    record: Name, gone: Collection[str], come: Collection[str], context: Context
) -> Iterator[tuple[str, str]]:
    old, new = (_values(record, side) for side in (context.old, context.new))
    before = {member: text for member, text in old.items() if member in gone}
    after = {text: member for member, text in new.items() if member in come}
    if len(set(before.values())) == len(before) == len(after):
        yield from ((member, after[text]) for member, text in before.items() if text in after)


def _values(record: Name, side: SideFacts) -> Mapping[str, str]:
    texts = (shape for shape in side.variants("source", record) if isinstance(shape, Declared))
    return {member: value for text in texts for member, value in text.expressions}
