"""Systematic changes of many exports: renames and flipped ABI tags; and single renames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from abistore.compare.context import Context
from abistore.compare.diff.parts import (
    Batch,
    Linkage,
    Lookalike,
    Redecorated,
    Rekeyed,
    RenamedSymbol,
    Renaming,
    Requalified,
    TagChange,
    TagFlip,
)
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import variant
from abistore.model.cpp_names.qualified import entity
from abistore.model.mangling.decorated import is_decorated
from abistore.model.mangling.symbols import c_name, is_mangled, without_qualifiers
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Function
from abistore.patterns import pattern

FEWEST = 3
"""So many exports must change in the same way to be one change."""

SHARE = 0.3
"""And so large a part of the removed exports: a few coincidences in a large release are no pattern."""

SIMILAR = 0.6
"""How alike two names of equal signature are that are taken for a rename (1: equal)."""


Pair: TypeAlias = tuple[str, str]
"""An export of the old side and one of the new side."""

Key = TypeVar("Key", str, tuple[str, str])
"""What an export of the old side and the one of the new side that it became have in common."""

Groups: TypeAlias = dict[Pair, list[Pair]]
"""Pairs by what differs in them: what the old names have, and what the new ones have in its place."""


def find(removed: Sequence[str], added: Sequence[str]) -> Iterator[tuple[str, Batch]]:
    """The systematic changes that turn some of ``removed`` into some of ``added``, each with what it is called.

    Every export is in one at most.
    """
    gone, come = list(removed), list(added)
    for detect, mangled, least in ((_tags, True, 1), (_scopes, True, FEWEST), (_affixes, False, FEWEST)):
        of_its_kind = [[each for each in side if is_mangled(each) is mangled] for side in (gone, come)]
        for part, batch in detect(*of_its_kind) if min(map(len, of_its_kind)) >= least else ():
            gone, come = _without_pairs(gone, come, batch.pairs)
            yield part, batch


def _without_pairs(gone: Sequence[str], come: Sequence[str], pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    olds, news = {old for old, _ in pairs}, {new for _, new in pairs}
    return [each for each in gone if each not in olds], [each for each in come if each not in news]


def _group(pairs: Iterable[Pair], affix: Callable[[str], str]) -> Groups:
    found: Groups = {}
    for old, new in pairs:
        found.setdefault((affix(old), affix(new)), []).append((old, new))
    return found


def _batches(groups: Groups, what: str, shape: type[Batch], least: int = FEWEST) -> Iterator[tuple[str, Batch]]:
    """Those of the groups that are large enough to be one change."""
    for (before, after), pairs in sorted(groups.items()):
        if before != after and len(pairs) >= least:
            yield f"{what} {before or '(none)'} -> {after or '(none)'}", shape(tuple(sorted(pairs)), before, after)


# --- ABI tags -----------------------------------------------------------------------------------------------------

TAG = pattern(r"\[abi:[^\]]*\]")
OLD_STRING = "std::basic_string<char, std::char_traits<char>, std::allocator<char>>"


def _tags(gone: Sequence[str], come: Sequence[str]) -> Iterator[tuple[str, Batch]]:
    """C++ exports that become equal without ABI tags; those of the standard library's strings are told apart."""
    pairs = _by_key(gone, come, lambda symbol: (_untagged(symbol), variant(symbol)))
    for _, batch in _batches(_group(pairs, _cxx11), "", TagFlip, 1):  # one is enough: nothing else makes this tag
        yield "ABI tag cxx11", batch
    others = (pair for pair in pairs if _cxx11(pair[0]) == _cxx11(pair[1]))
    yield from _batches(_group(others, _own_tags), "ABI tag", TagChange)


def _untagged(symbol: str) -> str:
    text = TAG.sub("", demangle(symbol)).replace("__cxx11::", "").replace(" >", ">")
    return text.replace(OLD_STRING, "std::string")


def _own_tags(symbol: str) -> str:
    """The ABI tags in a symbol, each once, sorted."""
    return " ".join(sorted({each[5:-1] for each in TAG.findall(demangle(symbol))}))


def _cxx11(symbol: str) -> str:
    return "cxx11" if "cxx11" in symbol else ""


# --- namespaces ---------------------------------------------------------------------------------------------------

MOST_NAMESAKES = 8
"""Functions of one name in so many scopes do not tell which namespace became which."""


def _scopes(gone: Sequence[str], come: Sequence[str]) -> Iterator[tuple[str, Batch]]:
    """C++ exports that become equal when one namespace is taken for another, for none, or none for it."""
    move = _likeliest_move(gone, come)
    if move is None:
        return iter(())
    pairs = _by_key(gone, come, lambda symbol: (_without(demangle(symbol), *move), variant(symbol)))
    return _batches({move: pairs}, "namespace", Renaming, max(FEWEST, int(SHARE * len(gone))))


def _without(demangled: str, before: str, after: str) -> str:
    spaces = [space for space in (before, after) if space]
    for space in sorted(spaces, key=len, reverse=True):
        demangled = re.sub(rf"(?<![\w:]){re.escape(space)}::", "", demangled)
    return demangled


def _likeliest_move(gone: Sequence[str], come: Sequence[str]) -> tuple[str, str] | None:
    """The outer scopes that most often stand before what is otherwise the same qualified name."""
    old, new = _namesakes(gone), _namesakes(come)
    counts: Counter[tuple[str, str]] = Counter()
    for own in old.keys() & new.keys():
        if len(old[own]) <= MOST_NAMESAKES and len(new[own]) <= MOST_NAMESAKES:
            counts.update({_outer(first, second) for first in old[own] for second in new[own]})
    found = [(count, move) for move, count in counts.items() if move != ("", "") and count >= FEWEST]
    return max(found, key=lambda each: (each[0], each[1]))[1] if found else None


def _namesakes(symbols: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for symbol in symbols:
        qualified = entity(demangle(symbol))
        if "<" not in qualified:
            found.setdefault(qualified.rpartition("::")[2], set()).add(qualified)
    return found


def _outer(old: str, new: str) -> tuple[str, str]:
    """What stands before the longest common end of two qualified names."""
    first, second = old.split("::"), new.split("::")
    while first and second and first[-1] == second[-1]:
        first.pop()
        second.pop()
    return "::".join(first), "::".join(second)


# --- prefixes and suffixes ----------------------------------------------------------------------------------------


def _affixes(gone: Sequence[str], come: Sequence[str]) -> Iterator[tuple[str, Batch]]:
    """C exports that differ in the same suffix, and those of the others that differ in the same prefix."""
    least = max(FEWEST, int(SHARE * len(gone)))
    for what in ("suffix", "prefix"):
        groups = _affix_groups(gone, come, what == "suffix")
        most, pairs = min(groups.items(), key=lambda item: (-len(item[1]), item[0]), default=(("", ""), []))
        for part, batch in _batches({most: pairs}, what, Renaming, least):
            gone, come = _without_pairs(gone, come, pairs)
            yield part, batch


def _affix_groups(gone: Sequence[str], come: Sequence[str], tails: bool) -> Groups:
    """Pairs that share the longest core, grouped by what stands before (or after) it on either side."""
    cores: dict[str, list[Pair]] = {}
    for new in come:
        for core, affix in _splits(new, tails):
            cores.setdefault(core, []).append((new, affix))
    groups: Groups = {}
    for old in gone:
        for core, affix in _splits(old, tails):
            matching = cores.get(core, ())
            if len(matching) == 1:
                new, other = matching[0]
                groups.setdefault((affix, other), []).append((old, new))
                break
    return groups


def _splits(symbol: str, tails: bool) -> Iterator[tuple[str, str]]:
    """Every way to cut ``symbol`` into a core and an affix at an underscore, longest core first."""
    yield symbol, ""
    cuts = [match.start() for match in re.finditer("_", symbol) if 0 < match.start() < len(symbol) - 1]
    for cut in reversed(cuts) if tails else cuts:
        core, affix = (symbol[:cut], symbol[cut:]) if tails else (symbol[cut + 1 :], symbol[: cut + 1])
        if len(core) >= 3:
            yield core, affix


# --- single exports -----------------------------------------------------------------------------------------------


def single(
    context: Context, removed: Sequence[str], added: Sequence[str]
) -> Iterator[tuple[str, str, type[RenamedSymbol]]]:
    """Pairs of one removed and one added export that are one function, changed in how it is mangled or named."""
    gone, come = list(removed), list(added)
    keys = (
        (without_qualifiers, Requalified),
        (_without_class_keys, Rekeyed),
        (_without_letters, Redecorated),
        (c_name, Linkage),
    )
    for key, shape in keys:
        pairs = _by_key(gone, come, key)
        if shape is Linkage:
            pairs = [(old, new) for old, new in pairs if is_mangled(old) != is_mangled(new)]
        gone, come = _without_pairs(gone, come, pairs)
        yield from ((old, new, shape) for old, new in pairs)
    for old, new in _lookalikes(context, gone, come):
        yield old, new, Lookalike


def _without_class_keys(symbol: str) -> str:
    if not is_decorated(symbol):
        return symbol
    from abistore.model.mangling.microsoft import without_class_keys  # ELF files have none

    return without_class_keys(symbol)


def _without_letters(symbol: str) -> str:
    if not is_decorated(symbol):
        return symbol
    from abistore.model.mangling.microsoft import without_letters  # ELF files have none

    return without_letters(symbol)


def _lookalikes(context: Context, gone: Sequence[str], come: Sequence[str]) -> Iterator[tuple[str, str]]:
    old, new = _by_signature(context, gone, True), _by_signature(context, come, False)
    for signature, before in sorted(old.items(), key=lambda item: item[1]):
        after = new.get(signature, [])
        if len(before) == 1 and len(after) == 1:
            names = entity(demangle(before[0])), entity(demangle(after[0]))
            if names[0] != names[1] and _likeness(*_own_parts(*names)) >= SIMILAR:
                yield before[0], after[0]


def _own_parts(old: str, new: str) -> Pair:
    """Two names without what a library's functions have in common: their scope, and the first word of C names.

    ``png_close`` and ``png_clip`` are ``close`` and ``clip``.
    """
    shared = old[: _common(old, new)]
    cut = shared.rfind("::") + 2 if "::" in shared else 0
    cut = shared.find("_", cut) + 1 or cut
    return old[cut:], new[cut:]


def _likeness(old: str, new: str) -> float:
    """How alike two names are: the share of their common beginning and end."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return 2 * (head + tail) / (len(old) + len(new))


def _common(old: str, new: str) -> int:
    """How many characters two texts begin with in common."""
    return next(
        (index for index, pair in enumerate(zip(old, new, strict=False)) if len({*pair}) == 2), min(len(old), len(new))
    )


def _by_signature(context: Context, symbols: Sequence[str], old: bool) -> dict[object, list[str]]:
    """Functions that the evidence describes, by their signature where it is telling: it mentions a type by name."""
    found: dict[object, list[str]] = {}
    for symbol in symbols:
        name = Name("function", symbol)
        shape = context.old.shape(name) if old else context.new.shape(name)
        if isinstance(shape, Function) and shape.parameters and any(references(shape)):
            found.setdefault((shape.result, shape.parameters, shape.variadic, shape.method), []).append(symbol)
    return found


def _by_key(gone: Sequence[str], come: Sequence[str], key: Callable[[str], Key]) -> list[Pair]:
    """Pairs of one removed and one added export with the same key, where no other export has it."""
    return pairs_of(grouped(gone, key), grouped(come, key))


def pairs_of(old: Mapping[Key, Sequence[str]], new: Mapping[Key, Sequence[str]]) -> list[Pair]:
    """Pairs of the exports of both sides with the same key, where no other export has it."""
    return [
        (old[each][0], new[each][0])
        for each in sorted(old.keys() & new.keys())
        if len(old[each]) == len(new[each]) == 1
    ]


def grouped(symbols: Sequence[str], key: Callable[[str], Key]) -> dict[Key, list[str]]:
    """The exports of one side by their keys."""
    found: dict[Key, list[str]] = {}
    for symbol in symbols:
        found.setdefault(key(symbol), []).append(symbol)
    return found
