"""Renames and families of exports, version tags, and libraries that define types or were replaced."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias, TypeVar

from abistore.diffing.context import Context
from abistore.diffing.parts import (
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
    ToolkitMove,
    VariableLookalike,
)
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.consumers import exports_members, folder, imported_members
from abistore.diffing.surface.export_table import RUNTIMES, is_weak
from abistore.model.declarations import COPIED, EXPORTS, SELF, TYPES, Changed, Declared, Kind, Name, Subject
from abistore.model.labels import family, library_name
from abistore.model.names.qualified import class_behind, demangle, entity, last_component, scope, variant
from abistore.model.names.symbols import c_name, is_mangled, without_qualifiers
from abistore.model.shapes import AnyShape, Function, Import, Record, Variable
from abistore.model.structure import embedded, references
from abistore.model.words import file_name, is_decorated, is_source
from abistore.patterns import pattern

RUNTIME_FAMILIES = frozenset({"GLIBC_", "GLIBCXX_", "CXXABI_", "GCC_", "GLIBC_ABI_DT_RELR", "GLIBCPP_"})
"""Version families of the C and C++ runtime: the floor that a system must reach, whichever of its libraries has it."""


OLDEST = {"GLIBC_": (2, 5), "GLIBCXX_": (3, 4), "CXXABI_": (1, 3), "GCC_": (3, 4)}
"""What every system has, by family: the runtime of the present C++ ABI (GCC 3.4, 2004), and the lowest C library that a
platform of Linux packages was ever defined by (``manylinux1``, PEP 513: glibc 2.5, 2006)."""

FIRST_GLIBC = {
    "aarch64": (2, 17),
    "ppc64le": (2, 17),
    "riscv64": (2, 27),
    "riscv32": (2, 32),
    "loongarch64": (2, 36),
}
"""The version that glibc came to a machine with, where that was later: none of its symbols there has a lower one.

``DEFAULT`` of the machine's ``shlib-versions`` in glibc's sources tells; so does the lowest version that its
``libc.so.6`` defines."""


def parsed(version: str) -> tuple[str, tuple[int, ...]]:
    """The family of a version tag and its number: ``GLIBC_2.34`` is ``("GLIBC_", (2, 34))``."""
    match = re.search(r"(?<!\d)\d{1,18}(?:\.+\d{1,18})*\.*$", version, re.ASCII)
    if match is None:
        return version, ()
    return version[: match.start()], tuple(int(each) for each in match[0].split(".") if each)


def raises_floor(version: str, known: Iterable[str], machine: str = "") -> bool:
    """Whether ``version`` is above all ``known`` ones of its family, and above what every system of ``machine`` has."""
    family, number = parsed(version)
    same = [other for other_family, other in map(parsed, known) if other_family == family]
    if family in OLDEST:
        same.append(OLDEST[family])
    if family == "GLIBC_" and machine in FIRST_GLIBC:
        same.append(FIRST_GLIBC[machine])
    return not same or number > max(same)


SYSTEM: Final = RUNTIMES | {"libc", "libm", "libpthread", "libdl", "librt", "libSystem", "KERNEL32", "msvcrt"}
"""Libraries of the languages and of the system, which no class of a project is from."""


def is_of_another(name: Name, context: Context) -> bool:
    """Whether the type ``name`` is another library's in both releases, and this one's exports do without its layout.

    No class of this library embeds it or derives from it, and no export passes it by value. Whose it is, the package
    tells in which its header stands; without packages, the members that are imported do. An alias may be a number,
    which programs read and write behind pointers.
    """
    side = context.old
    if name.kind != "alias" and name in side.lent and name in context.new.lent:
        return not _is_laid_out_here(name, side)
    asked = imported_members(name, side.exports)
    if not asked and not _is_given(name, side):
        asked = side.borrowed.get(name, ()) or _members_on_the_way(name, context)
    if not asked or not (_needs_others(side) or _is_left_to_others(name, asked, context)):
        return False
    if any(context.new.variants("symbol", Name(kind, each)) for each in asked for kind in EXPORTS):
        return False
    return not _is_laid_out_here(name, side)


def _members_on_the_way(name: Name, context: Context) -> tuple[str, ...]:
    """The imported members of the classes through which alone both releases come to a type, which then is of another.

    Headers leave it open whose a type is that no given one declares. But what only classes of other libraries mention
    is theirs, or of one below: they were compiled with its definition.
    """
    if not _is_only_included(name, context.old):
        return ()
    before = _members_before(name, context.old)
    return before if before and _members_before(name, context.new) else ()


def _is_only_included(name: Name, side: SideFacts) -> bool:
    """Whether headers were read and tell of a type, but none of the given ones declares it."""
    return bool(side.variants("source", name)) and name not in side.files and not _is_declared(name, side)


def _members_before(name: Name, side: SideFacts) -> tuple[str, ...]:
    """The imported members of the classes that lead to a type; none where anything else of this library does."""
    pending, seen, found = [name], {name}, set[str]()
    while pending:
        each = pending.pop()
        members = () if each == name or side.consumers.offers(each) else imported_members(each, side.exports)
        found.update(members)
        if members:
            continue
        if each.kind in EXPORTS or _is_declared(each, side) or exports_members(each, side.exports):
            return ()
        come = [user for user in side.reach.users(each) if user not in seen]
        seen.update(come)
        pending += come
    return tuple(sorted(found))


def _is_declared(name: Name, side: SideFacts) -> bool:
    return any(isinstance(shape, Declared) for shape in side.variants("source", name))


def _is_left_to_others(name: Name, asked: Sequence[str], context: Context) -> bool:
    """Whether a library that is linked with no other leaves a type to whoever links programs with it.

    Both releases import the members, so that no object file was forgotten; and neither is the header given, nor does
    it lie where exports stand: there it may say what programs have to define.
    """
    side = context.old
    file = side.files.get(name, "")
    if not file or is_source(file) or _is_given(name, side):
        return False
    if not any(context.new.variants("symbol", Name("import", each)) for each in asked):
        return False
    return folder(file) not in side.own_folders


def _is_given(name: Name, side: SideFacts) -> bool:
    """Whether a given header defines a type: one that is called like the header in which it stands.

    A given header may declare a class beforehand that one of the headers defines which it includes.
    """
    read = side.snapshot.provenance.headers
    if not read or not side.consumers.offers(name):
        return False
    file = side.files.get(name, "")
    return not file or file_name(file) in map(file_name, read.files)


def _needs_others(side: SideFacts) -> bool:
    """Whether the library is linked with any that may define a class, as far as the file tells."""
    needed = side.library.needed if side.library else ()
    return any(library_name(each) not in SYSTEM and not each.startswith(("ld-", "libc.musl")) for each in needed)


def _is_laid_out_here(name: Name, side: SideFacts) -> bool:
    """Whether an export passes ``name`` by value, or a class of this library embeds it or derives from it.

    So it is where it does so with a further class of another library that embeds this one. What stands in a header of
    another library is not this one's, copies of inline functions too.
    """
    pending, seen = [name], {name}
    while pending:
        each = pending.pop()
        for user in side.reach.users(each):
            if not any(_uses_layout(shape, user, each) for shape in side.snapshot.described(user)):
                continue
            if user.kind in EXPORTS:
                symbols = side.variants("symbol", user)
                if symbols and not (is_weak(symbols) and user in side.borrowed):
                    return True
            elif (
                isinstance(side.shape(user), Record) and side.consumers.can_see(user) and not _is_elsewhere(user, side)
            ):
                return True
            elif user not in seen:
                seen.add(user)
                pending.append(user)
    return False


def _uses_layout(shape: AnyShape, user: Name, name: Name) -> bool:
    return name in embedded(shape) or (name, True) in references(shape, user)


def _is_elsewhere(name: Name, side: SideFacts) -> bool:
    """Whether the library imports members of a class, or headers leave these to a library and it exports none."""
    if name in side.lent or name in side.borrowed or imported_members(name, side.exports):
        return True
    if _is_only_included(name, side) and _members_before(name, side):
        return True
    members = [each for each in side.reach.users(name) if _is_member(each, name, side)]
    return any(_is_left_out(each, side) for each in members) and not any(
        side.variants("symbol", each) for each in members
    )


def _is_member(function: Name, owner: Name, side: SideFacts) -> bool:
    methods = (each.method for each in side.snapshot.described(function) if isinstance(each, Function))
    return any(method is not None and method.owner == owner for method in methods)


def _is_left_out(member: Name, side: SideFacts) -> bool:
    for shape in side.variants("source", member):
        if isinstance(shape, Declared) and (shape.body or not COPIED.isdisjoint(shape.traits)):
            return False
        if isinstance(shape, Function) and shape.method is not None:
            method = shape.method
            if method.deleted or method.defaulted or method.virtual == "pure" or method.access == "private":
                return False
    return bool(side.variants("source", member))


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
    """Pairs of one removed and one added export that are one, changed in how it is mangled or named."""
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
        is_function = isinstance(_declared(context.old, old), Function)
        yield old, new, Lookalike if is_function else VariableLookalike


def _without_class_keys(symbol: str) -> str:
    if not is_decorated(symbol):
        return symbol
    from abistore.model.names.microsoft import without_class_keys  # ELF files have none

    return without_class_keys(symbol)


def _without_letters(symbol: str) -> str:
    if not is_decorated(symbol):
        return symbol
    from abistore.model.names.microsoft import without_letters  # ELF files have none

    return without_letters(symbol)


def _lookalikes(context: Context, gone: Sequence[str], come: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The only removed and added functions of a signature, and variables of a type: alike in name, or in one place.

    By its place only what had its signature or type for itself is known: many functions of a library may take the
    same, so that a new one of these is not what another one was renamed to.
    """
    old, new = _by_signature(context.old, gone), _by_signature(context.new, come)
    removed = Counter(_place(context.old, each) for each in gone)
    for signature, before in sorted(old.items(), key=lambda item: item[1]):
        after = new.get(signature, [])
        if len(before) == 1 and len(after) == 1:
            names, place = (entity(demangle(before[0])), entity(demangle(after[0]))), _place(context.old, before[0])
            alone = bool(place) and removed[place] == 1 and place == _place(context.new, after[0])
            if names[0] == names[1]:
                continue
            if _likeness(*_own_parts(*names)) >= SIMILAR or (alone and _has_own_signature(signature, context)):
                yield before[0], after[0]


def _has_own_signature(signature: object, context: Context) -> bool:
    return len(_by_signature(context.old, list(context.old.exports.names))[signature]) == 1


def _place(side: SideFacts, symbol: str) -> tuple[str, ...]:
    """The class of a member; the kind, scope and file of another export. Empty where the file is not known."""
    around, shape = scope(entity(demangle(symbol))), _declared(side, symbol)
    kind: Kind = "function" if isinstance(shape, Function) else "variable"
    if _is_member_of_class(shape):
        return (kind, around)
    file = side.files.get(Name(kind, symbol))
    return (kind, around, file_name(file)) if file else ()


def _declared(side: SideFacts, symbol: str) -> Function | Variable | None:
    """What an export is declared as."""
    shape = side.shape(Name("function", symbol)) or side.shape(Name("variable", symbol))
    return shape if isinstance(shape, Function | Variable) else None


def _is_member_of_class(shape: Function | Variable | None) -> bool:
    return shape is not None and (shape.method if isinstance(shape, Function) else shape.owner) is not None


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
    return next(
        (index for index, pair in enumerate(zip(old, new, strict=False)) if len({*pair}) == 2), min(len(old), len(new))
    )


def _by_signature(side: SideFacts, symbols: Sequence[str]) -> dict[object, list[str]]:
    """Methods, and functions and variables whose signature or type is telling: it mentions a type by name."""
    found: dict[object, list[str]] = {}
    for symbol in symbols:
        shape = _declared(side, symbol)
        if isinstance(shape, Variable):
            if any(references(shape)):
                found.setdefault((shape.type, shape.owner), []).append(symbol)
        elif shape is not None and (shape.method is not None or (shape.parameters and any(references(shape)))):
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


TOOLKIT = "@"
"""Stands for a class of the toolkit in a text that is compared with another release's."""

Sonames = tuple[str, ...]


def moved_libraries(context: Context) -> tuple[Sonames, Sonames]:
    """The needed libraries that gave way to another release of the same family, and these, in the same order."""
    old, new = context.old.library, context.new.library
    if old is None or new is None or old.needed == new.needed:
        return (), ()
    gone, come = (
        {family(each): each for each in some if each not in others and library_name(each) not in SYSTEM}
        for some, others in ((old.needed, new.needed), (new.needed, old.needed))
    )
    both = sorted(gone.keys() & come.keys())
    return tuple(gone[each] for each in both), tuple(come[each] for each in both)


class Toolkit:
    """The classes of libraries that moved, as both releases know them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.before, self.after = moved_libraries(context)

    @cached_property
    def _old(self) -> frozenset[str]:
        return _classes(self._context.old, self.before)

    @cached_property
    def _new(self) -> frozenset[str]:
        return _classes(self._context.new, self.after)

    def without_names(self, text: str, *, old: bool) -> str:
        """The text of one side with a sign in place of each class of the toolkit."""
        pattern = self._old_pattern if old else self._new_pattern
        return text if pattern is None else pattern.sub(TOOLKIT, text)

    @cached_property
    def _old_pattern(self) -> re.Pattern[str] | None:
        return _any_of(self._old)

    @cached_property
    def _new_pattern(self) -> re.Pattern[str] | None:
        return _any_of(self._new)

    def called(self, *, old: bool) -> Callable[[str], tuple[str, str]]:
        """What an export of one side is called without the toolkit's names."""
        return lambda symbol: (self.without_names(demangle(symbol), old=old), variant(symbol))

    def defines(self, name: Name) -> bool:
        """Whether a declaration is a class of the toolkit, an instance of a template of it, or a member of one."""
        text = name.spelling if name.kind in TYPES else entity(demangle(name.spelling))
        return any(self.without_names(text, old=old).startswith(TOOLKIT) for old in (True, False))

    def changed_types(self) -> Iterator[Name]:
        """The classes of the toolkit that lie in memory otherwise, and of which programs make objects."""
        old, new = self._context.old, self._context.new
        after = new.snapshot.entries.get("layout", {})
        for name in old.snapshot.entries.get("layout", {}):
            if name.kind == "record" and name in after and self.defines(name):
                lies_otherwise = _storage(old.shape(name)) != _storage(new.shape(name))
                if lies_otherwise and not old.consumers.library_allocates(name) and self._context.affected(name):
                    yield name


def toolkit_move(context: Context, gone: Sequence[str], come: Sequence[str]) -> Changed[ToolkitMove] | None:
    """What follows from libraries that moved: exports called by their classes, and classes that lie otherwise.

    ``gone`` and ``come`` are the exports that one side alone has. ``None`` where no library moved, or nothing follows.
    """
    if not all(moved_libraries(context)):
        return None
    toolkit = context.once(Toolkit)

    before, after = (
        grouped([each for each in some if is_mangled(each)], toolkit.called(old=old))
        for some, old in ((gone, True), (come, False))
    )
    pairs = tuple(pairs_of({key: each for key, each in before.items() if TOOLKIT in key[0]}, after))
    types = tuple(sorted(toolkit.changed_types()))
    if not pairs and not types:
        return None
    move = ToolkitMove(toolkit.before, toolkit.after, pairs, types)
    return Changed(Subject(SELF, f"toolkit {', '.join(map(family, toolkit.before))}"), move, move)


def _classes(side: SideFacts, libraries: Sonames) -> frozenset[str]:
    """The classes that these libraries define: the library imports members of them, or has them from such headers."""
    symbols = set(_imported(side, libraries))
    imported = {found for symbol in symbols if (found := _class_of(symbol))}
    beside = {name.spelling for name, asked in side.borrowed.items() if name.kind in TYPES and symbols & {*asked}}
    return frozenset(filter(None, map(_template, imported | beside)))


def _imported(side: SideFacts, libraries: Sonames) -> Iterator[str]:
    """The C++ symbols that the library expects from one of these, or from any where the file does not tell."""
    for name, shapes in side.snapshot.entries.get("symbol", {}).items():
        wanted = (isinstance(each, Import) and each.library in (None, *libraries) for each in shapes)
        if name.kind == "import" and is_mangled(name.spelling) and any(wanted):
            yield name.spelling


def _class_of(symbol: str) -> str:
    """The class that a symbol shows to be one: it has a table, a constructor or destructor, or a constant member."""
    if emitted := class_behind(symbol):
        return emitted
    text = demangle(symbol)
    around = scope(entity(text))
    made = last_component(around) == last_component(entity(text)).removeprefix("~")
    return around if made or text.endswith(" const") else ""


def _template(spelling: str) -> str:
    """The class or class template, without arguments; empty for one of the standard library."""
    name = spelling.partition("<")[0]
    return "" if name.startswith(("std::", "__gnu_cxx::")) else name


def _any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(names, key=lambda each: (-len(each), each))
    return re.compile(rf"(?<![\w:])(?:{'|'.join(map(re.escape, longest_first))})(?!\w)") if longest_first else None


def _storage(shape: AnyShape | None) -> object:
    """How an object lies in memory as far as programs that make some have it compiled in."""
    if not isinstance(shape, Record):
        return None
    slots = tuple((method.display, method.slot) for method in shape.virtuals)
    return shape.size, shape.alignment, shape.passing, shape.has_vptr, slots


_SET = (
    r"(?i)(?P<base>\w*[a-z0-9])_(?:mmx|sse[234]?|ssse3|sse4_?[12]|avx|avx2|avx512\w{0,8}|bmi[12]?|fma[34]?|neon|asimd|sve2?"
    r"|altivec|vsx|msa|lsx|lasx|rvv|wasm_?simd)"
)
"""Compiled when a name is first looked at: few comparisons do."""


def families(gone: Iterable[str], before: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The functions of which variants are ``gone``, each with these, where there were two or more of it ``before``."""
    variants: dict[str, list[str]] = {}
    for spelling in sorted(gone):
        if found := re.fullmatch(_SET, spelling):
            variants.setdefault(found["base"], []).append(spelling)
    for base, own in sorted(variants.items()):
        if len(own) > 1 or any(
            each.startswith(f"{base}_") and re.fullmatch(_SET, each) for each in before if each not in own
        ):
            yield base, tuple(own)
