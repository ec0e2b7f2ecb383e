"""Systematic changes of many exports: renames, moved inline namespaces, flipped ABI tags; and single renames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set

import msgspec

from abistore.compare.context import Context
from abistore.compare.parts import Batch, Linkage, Lookalike, NamespaceMove, Renaming, Requalified, TagChange, TagFlip
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity
from abistore.model.mangling.symbols import c_name, is_mangled, without_qualifiers
from abistore.model.names import Name
from abistore.model.reach import references
from abistore.model.shapes import Function

FEWEST = 3
"""So many exports must change in the same way to be one change."""

SHARE = 0.3
"""And so large a part of the removed exports: a few coincidences in a large release are no pattern."""

VERSION_SPACE = re.compile(
    r"(?:v|V|_|__|_V|lts_|inline_|abi_?|ver_?)\d\w*|\w*_v\d\w*|\w*_?\d+_\d+\w*|\w+_\d+|\w+\d{3,}"
)
"""How inline namespaces that carry a version are called."""

SIMILAR = 0.6
"""How alike two names of equal signature are that are taken for a rename (1: equal)."""


class FoundPattern(msgspec.Struct, frozen=True):
    """One pattern, and what it is called among the library's changes."""

    part: str
    shape: Batch


def find(removed: Sequence[str], added: Sequence[str]) -> Iterator[FoundPattern]:
    """The systematic changes that turn some of ``removed`` into some of ``added``; every export is in one at most."""
    gone, come = list(removed), list(added)
    for detect in (_tag_flips, _namespace_moves, _scopes, _affixes):
        for found in detect(gone, come):
            gone, come = _without_pairs(gone, come, found.shape.pairs)
            yield found


def _without_pairs(
    gone: Sequence[str], come: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> tuple[list[str], list[str]]:
    olds, news = {old for old, _ in pairs}, {new for _, new in pairs}
    return [each for each in gone if each not in olds], [each for each in come if each not in news]


# --- ABI tags -----------------------------------------------------------------------------------------------------

TAG = re.compile(r"\[abi:[^\]]*\]")
OLD_STRING = "std::basic_string<char, std::char_traits<char>, std::allocator<char>>"


def _untagged(symbol: str) -> str:
    text = TAG.sub("", demangle(symbol)).replace("__cxx11::", "").replace(" >", ">")
    return text.replace(OLD_STRING, "std::string")


def _tag_flips(gone: Sequence[str], come: Sequence[str]) -> Iterator[FoundPattern]:
    pairs = _by_key([each for each in gone if is_mangled(each)], [each for each in come if is_mangled(each)], _untagged)
    marked = [(old, new) for old, new in pairs if _is_tagged(old) != _is_tagged(new)]
    if len(marked) >= FEWEST:
        before, after = ("cxx11", "") if _is_tagged(marked[0][0]) else ("", "cxx11")
        yield FoundPattern("ABI tag cxx11", TagFlip(tuple(sorted(marked)), before, after))
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for old, new in pairs:
        tags = _tags(old), _tags(new)
        if _is_tagged(old) == _is_tagged(new) and tags[0] != tags[1]:
            groups.setdefault(tags, []).append((old, new))
    for (before, after), found in sorted(groups.items()):
        if len(found) >= FEWEST:
            part = f"ABI tag {before or '(none)'} -> {after or '(none)'}"
            yield FoundPattern(part, TagChange(tuple(sorted(found)), before, after))


def _tags(symbol: str) -> str:
    """The ABI tags in a symbol, each once, sorted."""
    return " ".join(sorted({each[5:-1] for each in TAG.findall(demangle(symbol))}))


def _is_tagged(symbol: str) -> bool:
    return "cxx11" in symbol


# --- inline namespaces --------------------------------------------------------------------------------------------


def _namespace_moves(gone: Sequence[str], come: Sequence[str]) -> Iterator[FoundPattern]:
    """Groups of C++ exports that become equal when one version namespace is left out."""
    mangled_gone = [each for each in gone if is_mangled(each)]
    mangled_come = [each for each in come if is_mangled(each)]
    spaces = _version_spaces(mangled_gone) | _version_spaces(mangled_come)
    if not spaces:
        return
    pairs = _by_key(mangled_gone, mangled_come, lambda symbol: _elided(demangle(symbol), spaces))
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for old, new in pairs:
        key = _first_of(demangle(old), spaces), _first_of(demangle(new), spaces)
        groups.setdefault(key, []).append((old, new))
    for (before, after), found in sorted(groups.items()):
        if len(found) >= FEWEST and before != after:
            shape = NamespaceMove(tuple(sorted(found)), before, after)
            yield FoundPattern(f"namespace {shape.before or '(none)'} -> {shape.after or '(none)'}", shape)


_COMPONENT = re.compile(r"\b(\w+)::")


def _elided(text: str, spaces: Set[str]) -> str:
    """``text`` without the components that are in ``spaces``."""
    return _COMPONENT.sub(lambda match: "" if match[1] in spaces else match[0], text)


def _first_of(text: str, spaces: Set[str]) -> str:
    """The first component of ``text`` that is in ``spaces``; empty without one."""
    return next((match[1] for match in _COMPONENT.finditer(text) if match[1] in spaces), "")


def _version_spaces(symbols: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for symbol in symbols:
        for component in re.findall(r"(\w+)::", demangle(symbol)):
            if VERSION_SPACE.fullmatch(component):
                found.add(component)
    return found


# --- namespaces ---------------------------------------------------------------------------------------------------

MOST_NAMESAKES = 8
"""Functions of one name in so many scopes do not tell which namespace became which."""


def _scopes(gone: Sequence[str], come: Sequence[str]) -> Iterator[FoundPattern]:
    """A group of C++ exports that become equal when one namespace is taken for another, for none, or none for it."""
    mangled_gone = [each for each in gone if is_mangled(each)]
    mangled_come = [each for each in come if is_mangled(each)]
    move = _likeliest_move(mangled_gone, mangled_come)
    if move is None:
        return
    before, after = move
    pairs = _by_key(mangled_gone, mangled_come, lambda symbol: _without(demangle(symbol), before, after))
    if len(pairs) >= max(FEWEST, int(SHARE * len(mangled_gone))):
        part = f"namespace {before or '(none)'} -> {after or '(none)'}"
        yield FoundPattern(part, Renaming(tuple(sorted(pairs)), before, after))


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


def _affixes(gone: Sequence[str], come: Sequence[str]) -> Iterator[FoundPattern]:
    """Groups of C exports that differ in the same prefix or in the same suffix."""
    plain_gone = [each for each in gone if not is_mangled(each)]
    plain_come = [each for each in come if not is_mangled(each)]
    least = max(FEWEST, int(SHARE * len(plain_gone)))
    for tails in (True, False):
        groups = _affix_groups(plain_gone, plain_come, tails)
        for (before, after), pairs in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            if len(pairs) < least:
                break
            place = "suffix" if tails else "prefix"
            yield FoundPattern(
                f"{place} {before or '(none)'} -> {after or '(none)'}", Renaming(tuple(sorted(pairs)), before, after)
            )
            plain_gone, plain_come = _without_pairs(plain_gone, plain_come, pairs)
            break


def _affix_groups(
    gone: Sequence[str], come: Sequence[str], tails: bool
) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Pairs that share the longest core, grouped by what stands before (or after) it on either side."""
    cores: dict[str, list[tuple[str, str]]] = {}
    for new in come:
        for core, affix in _splits(new, tails):
            cores.setdefault(core, []).append((new, affix))
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
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
) -> Iterator[tuple[str, str, type[Requalified] | type[Linkage] | type[Lookalike]]]:
    """Pairs of one removed and one added export that are one function, changed in how it is mangled or named."""
    gone, come = list(removed), list(added)
    for key, shape in ((without_qualifiers, Requalified), (c_name, Linkage)):
        pairs = _by_key(gone, come, key)
        if shape is Linkage:
            pairs = [(old, new) for old, new in pairs if is_mangled(old) != is_mangled(new)]
        gone, come = _without_pairs(gone, come, pairs)
        yield from ((old, new, shape) for old, new in pairs)
    for old, new in _lookalikes(context, gone, come):
        yield old, new, Lookalike


def _lookalikes(context: Context, gone: Sequence[str], come: Sequence[str]) -> Iterator[tuple[str, str]]:
    old, new = _by_signature(context, gone, True), _by_signature(context, come, False)
    for signature, before in sorted(old.items(), key=lambda item: item[1]):
        after = new.get(signature, [])
        if len(before) == 1 and len(after) == 1:
            names = entity(demangle(before[0])), entity(demangle(after[0]))
            if names[0] != names[1] and _likeness(*names) >= SIMILAR:
                yield before[0], after[0]


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


def _by_key(gone: Sequence[str], come: Sequence[str], key: Callable[[str], str]) -> list[tuple[str, str]]:
    """Pairs of one removed and one added export with the same key, where no other export has it."""
    old, new = _grouped(gone, key), _grouped(come, key)
    return [
        (old[each][0], new[each][0])
        for each in sorted(old.keys() & new.keys())
        if len(old[each]) == len(new[each]) == 1
    ]


def _grouped(symbols: Sequence[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for symbol in symbols:
        found.setdefault(key(symbol), []).append(symbol)
    return found
