"""What the text of public macros uses: programs compile it where they write the macro."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor
from abistore.extract.headers.walk.written.compiled.bodies import InlineBodies
from abistore.extract.headers.walk.written.compiled.references import Used
from abistore.extract.headers.walk.written.expansion import Expansions
from abistore.model.declared import Uses
from abistore.model.words.wildcards import ANY

MEMBER_OF: Final = frozenset({".", "->"})
POINTING: Final = frozenset({"*", "&", "&&", "::"})
"""What is written behind a type of which a macro has no object by that."""

AROUND: Final = frozenset({kinds.NAMESPACE, kinds.LINKAGE, kinds.UNEXPOSED_DECL})
MOST: Final = 1_000
"""Tokens of a macro, with those of the macros that it names."""


class MacroCode:
    """The functions, members and objects that macros name, as far as the library's own headers declare these.

    A member is known by its name alone: each class that has one so called is looked into. One of a class that no header
    defines is told without a class, and a name that is pasted of others with ``*`` for what macros are given.
    """

    def __init__(self, bodies: InlineBodies, top: Iterable[Cursor], expansions: Expansions) -> None:
        self._bodies = bodies
        self._lib = bodies.lib
        self._top = top
        self._expansions = expansions

    def of(self, macros: Iterable[str]) -> Mapping[str, Uses]:
        """What each of these macros uses that uses anything."""
        tokens = {name: tuple(self._tokens(name)) for name in macros}
        words = {each for found in tokens.values() for each in found if each.isidentifier()}
        declared = self._declared(words) if words else {}
        used = {name: self._used(found, declared) for name, found in tokens.items()}
        return {name: found for name, each in used.items() if (found := each.noted) is not None}

    def _tokens(self, macro: str) -> Iterator[str]:
        """The text of a macro and, behind it, of the macros that it names; parameters are left out."""
        pending, seen, count = [macro], {macro}, 0
        while pending and count < MOST:
            definition = self._expansions.definition(pending.pop())
            for token in definition.body if definition is not None else ():
                if definition is not None and token in (definition.parameters or ()):
                    token = "0"
                elif token not in seen and self._expansions.definition(token) is not None:
                    pending.append(token)
                seen.add(token)
                count += 1
                yield token

    def _used(self, tokens: tuple[str, ...], declared: Mapping[str, list[Cursor]]) -> Used:
        used = Used.nothing()
        for place, token in enumerate(tokens):
            before, behind = tokens[place - 1 : place], tokens[place + 1 : place + 2]
            for cursor in declared.get(token, ()):
                is_member = cursor.kind == kinds.FIELD
                has_object = cursor.kind not in kinds.RECORDS or POINTING.isdisjoint(behind)
                if is_member != MEMBER_OF.isdisjoint(before) and has_object:
                    self._bodies.name(cursor, used)
            if token.isidentifier() and not MEMBER_OF.isdisjoint(before) and not _has_member(used, token):
                used.fields[f"::{token}"] = None
        used.symbols.update(_pasted(tokens))
        return used

    def _declared(self, words: Collection[str]) -> Mapping[str, list[Cursor]]:
        """What the library's headers declare by these words, outside of classes but for data members."""
        found: dict[str, list[Cursor]] = {}
        pending = list(self._top)
        while pending:
            cursor = pending.pop()
            if cursor.kind in AROUND:
                pending += self._lib.children(cursor) if self._bodies.is_own(cursor) else ()
            elif cursor.kind in kinds.RECORDS or cursor.kind in (kinds.FUNCTION, kinds.VARIABLE, kinds.FIELD):
                word = self._lib.spelling(cursor)
                if (word in words or cursor.kind in kinds.RECORDS) and self._bodies.is_own(cursor):
                    found.setdefault(word, []).append(cursor)
                    if cursor.kind in kinds.RECORDS:
                        pending += self._lib.children(cursor)
        return found


def _has_member(used: Used, name: str) -> bool:
    return any(each.rpartition("::")[2] == name for each in used.fields)


def _pasted(tokens: tuple[str, ...]) -> Iterator[str]:
    """The names that ``##`` makes, where a part of each is known: ``foo_*_of`` of ``foo_##what##_of``."""
    for place, token in enumerate(tokens):
        if token != "##" or tokens[place - 2 : place - 1] == ("##",):
            continue
        parts = list(tokens[place - 1 : place])
        while tokens[place : place + 1] == ("##",):
            parts += tokens[place + 1 : place + 2]
            place += 2
        name = "".join(each if each.isidentifier() else ANY for each in parts)
        if ANY in name and name.strip(ANY):
            yield name
