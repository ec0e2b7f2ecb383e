"""Differences in evidence and in compiler options that the ABI depends on.

What compilers were told that the ABI depends on, as ``DW_AT_producer`` records it.

GCC records its options by default; Clang does with ``-grecord-command-line``. No compiler records macros (``-D``).

What headers tell of a declaration that debug information does not: a difference that both tell is found once.

Debug information is asked first. Its sizes, offsets and slots are what the compiler did, and a difference of types that
it shows needs no second look in the spelling of a header: ``unsigned int`` to ``unsigned long`` is ``u32`` to ``u64``.
Headers are asked for what only text tells (see :class:`~abistore.model.declarations.Declared`), for members that debug
information leaves out, and for differences that it does not show.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.headers import include_names_lost, read_otherwise
from abistore.diffing.parts import BuildMode, CallOptions, InlineNamespace, PublicHeader, RecordedOptions, Toolchain
from abistore.model.declarations import EXPORTS, SELF, Added, Changed, Declared, Delta, Facet, Name, Removed, Subject
from abistore.model.findings import evidence_rank
from abistore.model.format_gaps import about_calls, unrecorded_by
from abistore.model.shapes import (
    Alias,
    Base,
    Enum,
    Enumerator,
    Field,
    Function,
    Opaque,
    Record,
    Variable,
    VirtualMethod,
)
from abistore.model.snapshot import MOST_INLINE, HeaderDigest, HeadersRead, Snapshot, Target, Variants, only_described
from abistore.model.structure import references


class Mode(msgspec.Struct, frozen=True):
    """Options of which the last one holds; ``default`` is what holds without any. ``only_cpp``: C has no such thing."""

    options: str
    default: str
    only_cpp: bool = False


STANDARD: Final = "C++ standard"

MODES: Final = {
    "exceptions": Mode(r"-f(?:no-)?exceptions", "-fexceptions", only_cpp=True),
    "RTTI": Mode(r"-f(?:no-)?rtti", "-frtti", only_cpp=True),
    "thread-safe statics": Mode(r"-f(?:no-)?threadsafe-statics", "-fthreadsafe-statics", only_cpp=True),
    "TLS model": Mode(r"-ftls-model=\S+", "-ftls-model=global-dynamic"),
    "size of enumerations": Mode(r"-f(?:no-)?short-enums", "the target's own"),
    "width of wchar_t": Mode(r"-f(?:no-)?short-wchar", "the target's own"),
    "signedness of char": Mode(r"-f(?:no-)?(?:un)?signed-char", "the target's own"),
    "packing": Mode(r"-f(?:no-)?pack-struct(?:=\d+)?", "-fno-pack-struct"),
    "floating point": Mode(r"-mfloat-abi=\S+|-m(?:hard|soft)-float", "the target's own"),
    "sanitizers": Mode(r"-f(?:no-)?sanitize=\S+", "none"),
    "link-time optimisation": Mode(r"-f(?:no-)?lto(?:=\S+)?", "none"),
    STANDARD: Mode(r"", ""),
}
"""What has a kind of its own."""

OTHERS: Final = (
    r"-f(?:no-)?ms-extensions|-fabi-version=\d+|-f(?:pcc|reg)-struct-return"
    r"|-f(?:no-)?whole-program-vtables"
    r"|-m(?:abi|regparm|long-double)[-=]?\S*|-m(?:no-)?ms-bitfields|-m(?:no-)?rtd|-m(?:no-)?sseregparm"
    r"|-m(?:no-)?(?:80387|fp-ret-in-387)|-fcall-(?:used|saved)-\S+|-fclang-abi-compat=\S+"
)
"""Further options that change layouts, calls or mangled names. The file's notes tell what ``-fcf-protection`` made."""

_GCC: Final = r"GNU (?:C\+\+|C|Fortran|Ada)"


def toolchain_deltas(old: Snapshot, new: Snapshot) -> Iterator[Delta[Any]]:
    """How the compilers and the options that they recorded differ."""
    first, second = map(producers, (old, new))
    if first and second:
        described = all(each.evidence_of("layout").state == "full" for each in (old, new))
        yield from _modes(first, second, old.target if described else None)
    elif (first or second) and old.provenance.compilers and new.provenance.compilers:
        recorded = RecordedOptions(notable(first)), RecordedOptions(notable(second))
        if any(each.options for each in recorded):
            yield Changed(Subject(SELF, "compiler options"), *recorded)


def _modes(old: Sequence[str], new: Sequence[str], target: Target | None) -> Iterator[Delta[Any]]:
    """Each mode is one delta. A lower standard of C++ is one of the other options.

    Where all exports of ``target`` are described, those that options for calls concern have findings of their own.
    """
    before, after = others(old), others(new)
    for name, was, now in differing(old, new):
        if name == STANDARD and not is_raised(was, now):
            before, after = (*before, *was), (*after, *now)
        else:
            yield Changed(Subject(SELF, name), BuildMode(name, was), BuildMode(name, now))
    known, unusual = about_calls({*before, *after}, target) if target is not None else (frozenset(), frozenset())
    for part, sort, told in (("toolchain", Toolchain, {*before, *after} - known), ("calls", CallOptions, unusual)):
        was, now = (tuple(word for word in side if word in told) for side in (before, after))
        if was != now:
            yield Changed(Subject(SELF, part), sort(was), sort(now))


def producers(snapshot: Snapshot) -> tuple[str, ...]:
    """The compilers that recorded their options, with these."""
    return tuple(text for text in snapshot.provenance.compilers if _records(text))


@cache
def _records(producer: str) -> bool:
    return bool(re.match(_GCC, producer)) or (" clang version " in f" {producer}" and " -" in producer)


def mode(name: str, recorded: Sequence[str]) -> tuple[str, ...]:
    """What the units were compiled with, one value or several where they disagree; none where that is not known."""
    sort = MODES[name]
    if name == STANDARD:
        return tuple(sorted({each for text in recorded if (each := _standard(text))}))
    counted = (text for text in recorded if _is_cpp(text) or not sort.only_cpp)
    return tuple(sorted({_last(sort, text) for text in counted}))


def _last(sort: Mode, producer: str) -> str:
    found = [word for word in producer.split() if re.fullmatch(sort.options, word)]
    return found[-1].partition("=")[0] if found and "lto" in found[-1] else found[-1] if found else sort.default


def _is_cpp(producer: str) -> bool:
    return producer.startswith("GNU C++") or " -x c++" in producer


def _standard(producer: str) -> str | None:
    """``C++17``: GCC calls itself by the standard, wherever that comes from."""
    found = re.match(r"GNU (C\+\+\d+)\b", producer)
    return found[1] if found else None


def others(recorded: Sequence[str]) -> tuple[str, ...]:
    """The options of :data:`OTHERS` that some unit was compiled with, sorted."""
    return tuple(sorted({word for text in recorded for word in text.split() if re.fullmatch(OTHERS, word)}))


def is_raised(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a later C++ standard is asked for than before: ``C++98`` is earlier than ``C++11``."""
    return max(map(_year, after)) > max(map(_year, before))


def _year(standard: str) -> int:
    return (int(standard.removeprefix("C++")) - 90) % 100


def differing(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The modes that both sides tell, and that differ."""
    for name in MODES:
        before, after = mode(name, old), mode(name, new)
        if before and after and before != after:
            yield name, before, after


def notable(recorded: Sequence[str]) -> tuple[str, ...] | None:
    """The recorded options that the ABI depends on, where they are not the usual ones; ``None`` without records.

    The standard is left out: each compiler has another one by default.
    """
    if not recorded:
        return None
    told = ((name, sort) for name, sort in MODES.items() if name != STANDARD)
    values = (each for name, sort in told for each in mode(name, recorded) if each != sort.default)
    return tuple(sorted({*values, *others(recorded)}))


def evidence_deltas(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """How the evidence of each facet, and the recorded options, differ; each with the facet that it is about."""
    facets: tuple[Facet, ...] = ("layout", "source")
    for facet in facets:
        before, after = context.old.snapshot.evidence_of(facet), context.new.snapshot.evidence_of(facet)
        if evidence_rank(before) != evidence_rank(after):
            yield facet, Changed(Subject(SELF, f"{facet} evidence"), before, after)
    yield from _headers(context)
    yield from _namespaces(context)
    old, new = context.old.snapshot, context.new.snapshot
    if old.provenance.compilers != new.provenance.compilers:
        yield from (("layout", delta) for delta in toolchain_deltas(old, new))


def _headers(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """The public headers that programs cannot include any more, or for the first time, or that include less."""
    read = context.old.snapshot.provenance.headers
    inside = read.inside if isinstance(read, HeadersRead) else ()
    for file in include_names_lost(context.new, context.old):
        yield "source", Removed(Subject(SELF, file), PublicHeader(file, file in inside))
    for file in include_names_lost(context.old, context.new):
        yield "source", Added(Subject(SELF, file), PublicHeader(file))
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    if not isinstance(old, HeadersRead) or not isinstance(new, HeadersRead):
        return
    if old.outlines != new.outlines and set(old.files) & set(new.files):
        from abistore.diffing.headers import fewer_includes  # many releases include alike

        yield from (("source", delta) for delta in fewer_includes(old, new))


def _namespaces(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """The namespaces in headers that became inline, or are inline no longer, other than those that moved."""
    old, new = context.old.snapshot, context.new.snapshot
    before, after = (side.evidence_of("source").inline_namespaces or () for side in (old, new))
    if MOST_INLINE in (len(before), len(after)):
        return  # and perhaps more
    moved = {each for move in context.moves for each in (move.before, move.after)}
    for scope in before:
        if scope not in after and scope not in moved and _hides(new, scope):
            yield "source", Removed(Subject(SELF, scope), InlineNamespace(scope))
    for scope in after:
        if scope not in before and scope not in moved and _hides(old, scope):
            yield "source", Added(Subject(SELF, scope), InlineNamespace(scope))


def _hides(side: Snapshot, scope: str) -> bool:
    """Whether a namespace has a type that is not also found, by a using-declaration, in the namespace around it."""
    declared = side.entries.get("source", {})
    around = scope.rpartition("::")[0]
    found = {name.spelling for name in declared if name.kind in ("record", "enum", "alias")}
    inside = (each.removeprefix(scope) for each in found if each.startswith(f"{scope}::"))
    return any(f"{around}{each}" not in found for each in inside)


S = TypeVar("S", bound=msgspec.Struct)

COMPILED: Final = frozenset({"size", "offset", "bit_size", "alignment", "passing", "has_vptr", "slot", "symbol"})
"""What a compiler works out. Where debug information is there and records it, nobody else is asked."""

DESCRIBING: Final = (Record, Enum, Alias, Function, Variable)
"""The shapes that describe a declaration. Others say that debug information does not."""

PARTS: Final = (Field, Base, VirtualMethod, Enumerator)


def told_by_headers(
    context: Context, name: Name, old: Variants | None, new: Variants | None
) -> tuple[Variants | None, Variants | None]:
    """The two sides' shapes of ``name`` in headers, without the differences that debug information shows too.

    Where one side has no such declaration, the other is described as debug information describes it.
    """
    layouts = context.old.variants("layout", name), context.new.variants("layout", name)
    if old is None or new is None:
        seen = layouts[new is not None]
        known = layouts[old is not None] == () and seen != () and all(isinstance(shape, DESCRIBING) for shape in seen)
        return (_with_shapes(old, seen), _with_shapes(new, seen)) if known else (old, new)
    first, second, before, after = (only_described(each) for each in (*layouts, old, new))
    if type(first) is not type(second) or type(before) is not type(after) or type(first) is not type(before):
        return old, new
    if not isinstance(first, DESCRIBING) or second is None or before is None or after is None:
        return old, new
    compiled = context.once(_compiled)
    if isinstance(before, Record) and isinstance(after, Record) and before.packed != after.packed:
        compiled -= {"alignment"}  # debug information shows packing by the places of members alone
    left, right = _differing(compiled, first, second, before, after)
    return _with_shapes(old, (left,)), _with_shapes(new, (right,))


def _compiled(context: Context) -> frozenset[str]:
    """What both sides' debug information, or what stands for it, tells of a compiler's work."""
    evidence = (side.snapshot.evidence_of("layout") for side in (context.old, context.new))
    return COMPILED - {fact.partition(".")[2] for each in evidence for fact in unrecorded_by(each)}


def _with_shapes(variants: Variants | None, shapes: Variants) -> Variants | None:
    if variants is None:
        return None
    return (*(each for each in variants if isinstance(each, Declared)), *shapes)


def _differing(compiled: Container[str], first: S, second: S, before: S, after: S) -> tuple[S, S]:
    """``before`` and ``after`` without what differs between ``first`` and ``second``, which debug information shows."""
    left: dict[str, Any] = {}
    right: dict[str, Any] = {}
    for attribute in before.__struct_fields__:
        values = [getattr(each, attribute) for each in (first, second, before, after)]
        left[attribute], right[attribute] = _attribute(attribute in compiled, compiled, values)
    return msgspec.structs.replace(before, **left), msgspec.structs.replace(after, **right)


def _attribute(known: bool, compiled: Container[str], values: Sequence[Any]) -> tuple[Any, Any]:
    first, second, before, after = values
    if any(isinstance(part, PARTS) for values in (before, after) if isinstance(values, tuple) for part in values):
        return _parts(compiled, first, second, before, after)
    if known or first != second:
        return first, first
    return before, after


def _parts(
    compiled: Container[str], first: Sequence[Any], second: Sequence[Any], before: Sequence[Any], after: Sequence[Any]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The members that headers show. One that came or went in both kinds of evidence is left out."""
    known = [_keyed(each) for each in (first, second, before, after)]
    if any(table is None for table in known):
        return (tuple(before), tuple(before)) if first != second else (tuple(before), tuple(after))
    one, two, left, right = (table or {} for table in known)
    pairs = {
        key: _differing(compiled, one[key], two[key], part, right[key])
        for key, part in left.items()
        if key in right and key in one and key in two
    }
    kept = [pairs[key][0] if key in pairs else part for key, part in left.items() if not _went(key, right, one, two)]
    in_order = iter(pairs.values())
    came = ((key, part) for key, part in right.items() if not _went(key, left, two, one))
    rest = [next(in_order)[1] if key in pairs else part for key, part in came]
    return tuple(kept), tuple(rest)


def _went(key: object, other: Container[object], one: Container[object], two: Container[object]) -> bool:
    """Whether a member is not in the ``other`` headers, and of debug information in one side's, not in ``two``."""
    return key not in other and key in one and key not in two


def _keyed(parts: Sequence[Any]) -> Mapping[object, Any] | None:
    """Members by what they are called; ``None`` where some are called the same, as two without a name."""
    found = {_key(part): part for part in parts}
    return found if len(found) == len(parts) else None


def _key(part: Any) -> object:
    match part:
        case VirtualMethod():
            return part.display, part.parameters
        case Base():
            return part.type
        case _:
            return part.name


class SameTexts(msgspec.Struct, frozen=True):
    """The headers that say the same on both sides, with all that they include; ``all`` where every header does."""

    files: frozenset[str]
    all: bool


def is_of_same_text(context: Context, name: Name) -> bool:
    """Whether identical headers declare a name that errors on one side keep from being read.

    What it is made of may have changed all the same, where both sides read that in headers of others.
    """
    same = context.once(_same_texts)
    return bool(same.files) and _is_held(context, same, name) and not _rests_on_changed(context, same, name)


def _same_texts(context: Context) -> SameTexts:
    sides = context.old.snapshot, context.new.snapshot
    reads = [each.provenance.headers for each in sides]
    nothing = SameTexts(frozenset(), all=False)
    if all(each.evidence_of("source").declares_all for each in sides) or read_otherwise(context.old, context.new):
        return nothing
    if not all(isinstance(each, HeadersRead) and each.texts for each in reads):
        return nothing
    old, new = (each for each in reads if isinstance(each, HeadersRead))
    before, after = (_Closures(each) for each in (old, new))
    files = frozenset(each for each in before.texts if each in after.texts and _says_same(before, after, each))
    return SameTexts(files, all=old.files == new.files and files.issuperset(old.files))


class _Closures:
    """What is read with each header of one side."""

    def __init__(self, read: HeadersRead) -> None:
        self.files = frozenset(read.files)
        self.texts: Mapping[str, HeaderDigest] = {each.file: each for each in read.texts}
        self._includes = {each.file: each.includes for each in read.outlines}

    def of(self, file: str) -> frozenset[str]:
        found, pending = {file}, [file]
        while pending:
            each = pending.pop()
            behind = self.texts[each].behind if each in self.texts else ()
            more = {*self._includes.get(each, ()), *behind} - found
            found |= more
            pending += more
        return frozenset(found)


def _says_same(old: _Closures, new: _Closures, file: str) -> bool:
    """Whether no header has another text that a header leads to; one that a side alone reads may have none."""
    for each in old.of(file) | new.of(file):
        before, after = old.texts.get(each), new.texts.get(each)
        if before is None or after is None:
            if each in old.files | new.files:
                return False
        elif before.digest != after.digest:
            return False
    return True


def _is_held(context: Context, same: SameTexts, name: Name) -> bool:
    """Whether a name is declared in these headers alone; debug information may know another place for it."""
    if same.all:
        return _is_declared(context, name) or _is_hidden(context, name)
    places = [side.files.get(name) for side in (context.old, context.new)]
    return any(places) and all(place is None or place in same.files for place in places)


def _is_declared(context: Context, name: Name) -> bool:
    """Whether a name stands in public headers, or is an instance of a template that does."""
    if name.kind in EXPORTS or any(name in side.snapshot.locations for side in (context.old, context.new)):
        return True
    return "<" in name.spelling and _plain(name.spelling) in context.once(_templates)


def _templates(context: Context) -> frozenset[str]:
    sides = context.old.snapshot, context.new.snapshot
    return frozenset(
        _plain(name.spelling)
        for side in sides
        for name in side.locations
        if any("template" in each.traits for each in side.variants("source", name) if isinstance(each, Declared))
    )


def _plain(spelling: str) -> str:
    return spelling.partition("<")[0]


def _is_hidden(context: Context, name: Name) -> bool:
    return not all(_is_whole(side.variants("source", name)) for side in (context.old, context.new))


def _is_whole(shapes: Variants) -> bool:
    return any(not isinstance(each, Opaque) for each in shapes)


def _rests_on_changed(context: Context, same: SameTexts, name: Name) -> bool:
    """Whether what a declaration mentions, directly or not, changed in headers of others that both sides read."""
    seen, pending = {name}, [name]
    while pending:
        for each in {found for found in _mentioned(context, pending.pop()) if found not in seen}:
            seen.add(each)
            pending.append(each)
            before, after = (side.variants("source", each) for side in (context.old, context.new))
            if before != after and not _is_held(context, same, each):
                return True
    return False


def _mentioned(context: Context, name: Name) -> Iterator[Name]:
    for side in (context.old, context.new):
        for shape in side.variants("source", name):
            yield from (each for each, _ in references(shape, name))
