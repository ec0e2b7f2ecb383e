"""Evidence that one side lacks, modes and inclusions of headers, and what belongs to other libraries and runtimes."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import Final

import msgspec

from abistore.diffing.context import Context, Note, declaration, rule, spell
from abistore.diffing.headers import chosen_otherwise
from abistore.diffing.kinds.constants import is_own
from abistore.diffing.kinds.objects import is_block_of_another
from abistore.diffing.kinds.parameter_types import TypeDifference, difference
from abistore.diffing.parts import Agreement, HeaderIncludes, InMode, Parameter, Result, SourceBreak, TakenName, Variant
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.export_table import is_allocator
from abistore.model.declarations import TYPES, Added, Changed, Declared, Name, Removed
from abistore.model.findings import Impact, evidence_rank
from abistore.model.names.qualified import demangle, without_parameters
from abistore.model.shapes import Alias, Foreign, Library
from abistore.model.snapshot import Evidence, HeaderOutline, HeadersRead
from abistore.model.words import counted

WORDS = ("nothing", "a part", "everything")


@rule(Impact.NOTICE, evidence="layout", element="library", action="removed", aliases=("layout_unverifiable",))
def dwarf_info_missing(evidence: Changed[Evidence]) -> Iterator[Note]:
    """The new build has no debug information; the old one had it.

    Layouts, parameters and enumerators were not compared: a break there goes unnoticed.

    Fix: build with ``-g``; if the debug information is in a separate file, name its folder with ``--debug-dir``.
    """
    if evidence.old.facet == "layout" and evidence_rank(evidence.old) > evidence_rank(evidence.new) == 0:
        yield Note("the new build has no debug information", _seen(evidence.old), _seen(evidence.new))


@rule(
    Impact.NOTICE,
    evidence="layout",
    element="library",
    action="changed",
    aliases=("layer_coverage_asymmetric", "source_fact_coverage_incomplete"),
)
def evidence_narrowed(evidence: Changed[Evidence]) -> Iterator[Note]:
    """The new build has less evidence about its exports than the old one.

    Facts that only the old build shows were not compared. The report lists them as not checked.

    Fix: build every unit of the library with ``-g``, and pass headers for both sides or for none.
    """
    old, new = evidence.old, evidence.new
    missing = old.facet == "layout" and evidence_rank(new) == 0
    if evidence_rank(new) < evidence_rank(old) and not missing:
        yield Note(f"less evidence about the {new.facet}", _seen(old), _seen(new))


def _seen(evidence: Evidence) -> str:
    """How much was seen; of a part how large it is. Without debug information nobody knows what it would describe."""
    words = WORDS[evidence_rank(evidence)]
    is_part = 0 < evidence.described < evidence.expected
    return f"{words} ({evidence.described} of {counted(evidence.expected, 'export')})" if is_part else words


@rule(
    Impact.RISK,
    evidence="source",
    element="types",
    action="changed",
    aliases=(
        "compile_context_conflict",
        "header_binary_context_mismatch",
        "header_build_context_mismatch",
        "source_binary_provenance_mismatch",
        "source_surface_dso_mismatch",
    ),
)
def evidence_agreement_removed(agreement: Changed[Agreement]) -> Iterator[Note]:
    """The new headers and the new library define a type differently.

    Programs that include these headers lay the type out differently than the library does. If the headers belong to
    another release or configuration, other facts in them may be wrong for this library too.

    Fix: give the headers that the library was built with, and the macros that it was configured with (``--define``).
    """
    if agreement.new.header:
        yield Note("headers and library disagree", agreement.new.header, agreement.new.binary)


@rule(Impact.RISK, evidence="layout", element="types", action="removed", aliases=("odr_source_conflict",))
def declaration_definition_removed(variant: Removed[Variant]) -> Iterator[Note]:
    """One of several definitions of a name was removed.

    The library's units disagreed about the definition, and now fewer do. Programs compiled with the removed definition
    no longer agree with any unit.

    Fix: give one name one definition in all units (the one definition rule).
    """
    yield Note("one of the definitions was removed", declaration(variant.subject.name, variant.old.shape))


@rule(
    Impact.RISK,
    evidence="layout",
    element="types",
    action="added",
    aliases=("identity_collision_detected", "odr_type_variant"),
)
def declaration_definition_added(variant: Added[Variant]) -> Iterator[Note]:
    """A name has an additional, different definition.

    The library's units disagree about the definition. Objects that they share, or pass to programs, are used with two
    layouts.

    Fix: give one name one definition in all units (the one definition rule).
    """
    yield Note("the name has an additional definition", None, declaration(variant.subject.name, variant.new.shape))


def _foreign(type: Changed[Foreign]) -> tuple[str, str] | None:
    old, new = type.old, type.new
    sizes = None not in (old.size, new.size) and old.size != new.size
    alignments = None not in (old.alignment, new.alignment) and old.alignment != new.alignment
    return (_storage(old), _storage(new)) if sizes or alignments else None


def _storage(type: Foreign) -> str:
    aligned = "" if type.alignment is None else f", aligned to {type.alignment}"
    return ("unknown size" if type.size is None else counted(type.size, "byte")) + aligned


def _hold(type: Changed[Foreign], context: Context) -> bool:
    """Whether programs have objects of a type themselves, and not only those that its own functions make for them."""
    return context.old.consumers.hold(type.subject.name) and not is_block_of_another(type, context)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def type_foreign_layout_changed(type: Changed[Foreign], context: Context) -> Iterator[Note]:
    """A standard library type that exports use by value has another size or alignment.

    The library was built against another standard library, or in another mode of it. Objects that programs built
    against the old one pass or embed do not match.

    Fix: build with the same standard library and the same settings of it (``_GLIBCXX_USE_CXX11_ABI``, debug modes).
    """
    storage = _foreign(type)
    if storage is not None and _hold(type, context):
        yield Note("the storage changed", *storage)


@rule(Impact.RISK, variant="pointee", evidence="layout", element="types", action="changed")
def type_foreign_layout_changed_pointee(type: Changed[Foreign], context: Context) -> Iterator[Note]:
    """The size or alignment of a standard library type that exports use by address changed.

    Code compiled for the new standard library uses objects that programs made with the old one. Internal classes of the
    standard library count here too if they changed with what they contain, and only its own functions use them by
    value. An example is ``std::_Sp_counted_ptr_inplace<Impl>``, which ``std::make_shared`` uses.

    Fix: build with the same standard library and the same settings of it.
    """
    storage = _foreign(type)
    if storage is not None and not _hold(type, context):
        yield Note("the storage changed", *storage)


MOST_SAID = 3


@rule(
    Impact.API_BREAK,
    evidence="source",
    element="library",
    action="removed",
    aliases=("include_graph_public_header_drift",),
)
def header_include_removed(includes: Removed[HeaderIncludes], context: Context) -> Iterator[Note]:
    """A main public header no longer includes another one, and no other entry header does.

    Existing binaries do not notice. Sources that include only the main header no longer find the other one's
    declarations, though both headers are installed. An entry header is one that no other header includes. A main header
    is the only entry header, has the library's name, or includes half of all headers.

    Fix: include the other header again.
    """
    lost = lost_everywhere(includes.old.file, context)
    if lost is not None:
        yield _note(lost)


@rule(
    Impact.RISK,
    variant="covered",
    evidence="source",
    element="library",
    action="removed",
    aliases=("include_graph_public_header_drift",),
)
def header_include_removed_covered(includes: Removed[HeaderIncludes], context: Context) -> Iterator[Note]:
    """A public header no longer includes another one, which other headers or sources still include.

    Existing binaries do not notice. Sources that use the other header's declarations and include it nowhere, not even
    indirectly, stop compiling.

    Fix: include the other header again, or ask users to include what they use.
    """
    lost = lost_here(includes.old.file, context)
    if lost is not None:
        yield _note(lost)


def _note(lost: LostHeaders) -> Note:
    said = list(dict.fromkeys(without_parameters(demangle(name.spelling)) for name in sorted(lost.names, key=_rank)))
    more = f" and {len(said) - MOST_SAID} more" if len(said) > MOST_SAID else ""
    what = f": {', '.join(said[:MOST_SAID])}{more}" if said else ""
    return Note(f"sources that include it alone miss what others declare{what}", ", ".join(lost.headers), None)


def _rank(name: Name) -> tuple[bool, bool, Name]:
    """Types first, then functions, then variables and macros."""
    return name.kind not in TYPES, name.kind != "function", name


@rule(Impact.BREAKING, variant="declaration", evidence="source", element="types", action="changed")
def mode_changed_declaration(declaration: Changed[InMode]) -> Iterator[Note]:
    """Programs built in one mode see another declaration than the library has.

    A condition in the headers shows them another layout or signature than before. It may be ``#ifdef NDEBUG``, ``#ifdef
    __cplusplus`` or a macro of another header. Programs of that mode use layouts and calls that differ from the
    library's, or from older programs'.

    Fix: declare the library's layout and signature in all modes.
    """
    if declaration.new.impact is Impact.BREAKING:
        yield _mode_note(declaration)


@rule(Impact.API_BREAK, variant="source", evidence="source", element="functions", action="changed")
def mode_changed_source(declaration: Changed[InMode]) -> Iterator[Note]:
    """Sources compiled in one mode stop compiling.

    Existing binaries do not notice. A condition in the headers removes a declaration for sources of that mode, or stops
    them with ``#error``. An example is a header that can no longer be included directly.

    Fix: keep the old declarations in this mode.
    """
    if declaration.new.impact is Impact.API_BREAK:
        yield _mode_note(declaration)


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def mode_changed(declaration: Changed[InMode]) -> Iterator[Note]:
    """Programs built in one mode may see a different interface.

    A condition in the headers shows them a difference that would be a risk if all programs saw it.

    Fix: declare in this mode what was declared before.
    """
    if declaration.new.impact is Impact.RISK:
        yield _mode_note(declaration)


def _mode_note(declaration: Changed[InMode]) -> Note:
    old, new = declaration.old, declaration.new
    part = f" ({new.part})" if new.part else ""
    return Note(f"in the mode '{new.mode}': {new.said}{part}", old.value, new.value, new.affected)


@rule(Impact.RISK, variant="own", evidence="source", element="functions", action="changed")
def declaration_changed_own(declared: Changed[SourceBreak]) -> Iterator[Note]:
    """An internal declaration in a public header was removed, or changed so that sources may not compile.

    It is in a namespace such as ``detail``. No public declaration derives from it, takes, returns or renames it. No
    other header specialises it, and no call finds it by its arguments. Or C reserves its name (``__geo_open``), and no
    macro expands to it. Existing binaries work as before. Sources that name it stop compiling.

    Fix: nothing, unless your documentation recommends it.
    """
    yield Note(declared.old.what, declared.old.value, declared.new.value)


WIDENED = frozenset(
    {
        *("time_t", "__time_t", "suseconds_t", "__suseconds_t"),
        *("off_t", "__off_t", "ino_t", "__ino_t", "rlim_t", "__rlim_t", "blkcnt_t", "__blkcnt_t"),
        *("fsblkcnt_t", "__fsblkcnt_t", "fsfilcnt_t", "__fsfilcnt_t"),
    }
)
"""Aliases of the C library that ``_TIME_BITS`` and ``_FILE_OFFSET_BITS`` widen on 32-bit platforms."""

STANDARD_LIBRARIES = ("libstdc++", "libc++")


def is_time64(alias: Changed[Alias], context: Context) -> bool:
    """Whether a time or file offset type of a 32-bit platform got another width."""
    if context.old.snapshot.target.bits != 32 or alias.subject.name.spelling not in WIDENED:
        return False
    old = context.old.types.layouts.size(alias.old.target)
    new = context.new.types.layouts.size(alias.new.target)
    return old != new


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def time64_abi_changed(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """The width of times or file offsets changed on a 32-bit platform.

    ``_TIME_BITS`` or ``_FILE_OFFSET_BITS`` differs between the builds. Programs built with the other setting pass and
    store values of half or twice the width, also within structs.

    Fix: build with the old settings, or rebuild all consumers and bump the SONAME.
    """
    if is_time64(alias, context):
        yield Note("the width changed", spell(alias.old.target), spell(alias.new.target))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def long_double_abi_changed(value: Changed[Parameter] | Changed[Result], context: Context) -> Iterator[Note]:
    """A function takes or returns ``long double`` in another format.

    The builds differ in ``-mlong-double-64`` or similar options. Callers pass the number in other registers and with
    other bits.

    Fix: use the platform's own format, or the old release's.
    """
    if difference(value.old.type, value.new.type, context) is TypeDifference.LONG_DOUBLE:
        old = context.old.types.layouts.size(value.old.type)
        new = context.new.types.layouts.size(value.new.type)
        yield Note("the size of long double changed (bytes)", str(old), str(new))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def stdlib_implementation_changed(library: Changed[Library]) -> Iterator[Note]:
    """The library uses another implementation of the C++ standard library.

    Strings, containers and streams have another layout there. Changed names and layouts in the interface are reported
    separately. Exceptions and allocations that cross between both may be misread.

    Fix: build with the standard library that consumers use (``-stdlib=``).
    """
    old, new = _standard_library(library.old), _standard_library(library.new)
    if old and new and old != new:
        yield Note("the standard library was replaced", old, new)


def _standard_library(library: Library) -> str | None:
    stems = {each.partition(".so")[0] for each in library.needed}
    return next((each for each in STANDARD_LIBRARIES if each in stems), None)


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def allocator_replacement_added(taken: Added[TakenName]) -> Iterator[Note]:
    """The library exports functions that replace the process's memory allocator.

    Every program linked to it, and every library loaded after it, allocates with them from now on. Memory from one
    allocator that the other frees corrupts both.

    Fix: hide them with a version script, unless the library is an allocator.
    """
    if is_allocator(taken.new.symbol):
        yield Note("the allocator is replaced", None, demangle(taken.new.symbol))


@rule(Impact.BREAKING, variant="runtime_name", evidence="symbol", element="functions", action="added")
def func_added_runtime_name(taken: Added[TakenName]) -> Iterator[Note]:
    """A new export has the name of a function or variable of the C library.

    A program linked with the library finds the symbol there before the C library's, and so do all other libraries of
    the process. ``write(1, ...)`` then calls the library's ``write``, whether or not a header declares it.

    Fix: hide it, with a version script or ``-fvisibility=hidden``, or give it another name.
    """
    if not is_allocator(taken.new.symbol) and taken.new.version is None:
        yield Note("it overrides the C library's", None, taken.new.symbol)


@rule(Impact.RISK, variant="runtime_name_versioned", evidence="symbol", element="functions", action="added")
def func_added_runtime_name_versioned(taken: Added[TakenName]) -> Iterator[Note]:
    """A new export has the name of a function or variable of the C library, in a version node of the library.

    With glibc, existing binaries keep using the C library's version of it. A relinked program uses the library's. Where
    the C library has no versions (musl), every program does.

    Fix: hide it, with a version script or ``-fvisibility=hidden``, or give it another name.
    """
    if not is_allocator(taken.new.symbol) and taken.new.version is not None:
        yield Note("a new link finds it before the C library's", None, taken.new.symbol)


FEWEST: Final = 4
"""Of fewer headers one and what it includes are soon half."""


class IncludeGraph:
    """The public headers of one side: which are reached from each, and where declarations stand."""

    def __init__(self, side: SideFacts, read: HeadersRead) -> None:
        self.files = frozenset(read.files).difference(read.set_aside)
        self._side = side
        self._outlines = {each.file: each for each in read.outlines}
        self._reached: dict[str, frozenset[str]] = {}
        self._headers: dict[str, str | None] = {}

    def outline(self, file: str) -> HeaderOutline:
        """What is recorded of a header."""
        return self._outlines.get(file) or HeaderOutline(file)

    def reached(self, file: str) -> frozenset[str]:
        """What a source gets that includes a header: this one, and all that it leads to."""
        if file not in self._reached:
            found, pending = {file}, [file]
            while pending:
                come = set(self.outline(pending.pop()).includes) - found
                found |= come
                pending += come
            self._reached[file] = frozenset(found)
        return self._reached[file]

    def with_header(self, file: str) -> frozenset[str]:
        """The headers from which one is reached, itself among them."""
        return frozenset(each for each in self.files if file in self.reached(each))

    @cached_property
    def entries(self) -> frozenset[str]:
        """The headers that no other includes: sources begin with them. Those that include each other count as one."""
        included = {
            each for by, outline in self._outlines.items() for each in outline.includes if by not in self.reached(each)
        }
        return self.files - included

    @cached_property
    def main(self) -> frozenset[str]:
        """The entries that stand for the library: the only one, those called like it, and those that lead to half."""
        if len(self.entries) == 1:
            return self.entries
        called = _letters(self._side.snapshot.library).removeprefix("lib")
        return frozenset(
            each
            for each in self.entries
            if _letters(PurePosixPath(each).stem).removeprefix("lib") == called
            or 2 * len(self.reached(each) & self.files) >= max(len(self.files), FEWEST)
        )

    @cached_property
    def names(self) -> Mapping[str, frozenset[Name]]:
        """What each header declares, as far as it is known where that stands."""
        found: dict[str, set[Name]] = {}
        for name, shapes in self._side.snapshot.entries.get("source", {}).items():
            file = self.header(name)
            if file is not None and any(_is_for_programs(name, each) for each in shapes):
                found.setdefault(file, set()).add(name)
        return {file: frozenset(names) for file, names in found.items()}

    def header(self, name: Name) -> str | None:
        """The header that a declaration stands in; ``None`` where debug information places it elsewhere."""
        file = self._side.files.get(name, "")
        if file not in self._headers:
            parts = file.split("/")
            ends = ("/".join(parts[place:]) for place in range(len(parts)))
            self._headers[file] = next((each for each in ends if each in self.files), None)
        return self._headers[file]

    def declares_beyond(self, kept: Container[str], name: Name) -> bool:
        """Whether a declaration is known to stand in another header than these."""
        file = self.header(name)
        return file is not None and file not in kept and name in self.names.get(file, ())


def _is_for_programs(name: Name, shape: object) -> bool:
    """Whether programs use what a header declares, and not the headers alone."""
    if not isinstance(shape, Declared):
        return False
    return shape.replacement is None or not is_own(name, shape.replacement)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


class LostHeaders(msgspec.Struct, frozen=True):
    """The ``headers`` that a header brings along no longer, and what of them sources are known to miss."""

    headers: tuple[str, ...]
    names: tuple[Name, ...]


def lost_everywhere(file: str, context: Context) -> LostHeaders | None:
    """What no header that sources begin with has any more, and one that stands for the library had by this one."""
    losses = context.once(_losses)
    return _joined({each: names for each, names in losses.own(file).items() if losses.reaches_none(file, each)})


def lost_here(file: str, context: Context) -> LostHeaders | None:
    """What this header brings along no longer besides."""
    losses = context.once(_losses)
    return _joined({each: names for each, names in losses.own(file).items() if not losses.reaches_none(file, each)})


def _joined(found: Mapping[str, Iterable[Name]]) -> LostHeaders | None:
    names = sorted(name for each in found.values() for name in each)
    return LostHeaders(tuple(sorted(found)), tuple(names)) if found else None


def _losses(context: Context) -> _Losses:
    asked = chosen_otherwise(context)
    return _Losses(_graph(context.old), _graph(context.new), asked.files if asked else frozenset())


def _graph(side: SideFacts) -> IncludeGraph:
    read = side.snapshot.provenance.headers
    return IncludeGraph(side, read if isinstance(read, HeadersRead) else HeadersRead())


class _Losses:
    """What is missed behind each header that both sides have.

    A header in which a condition was answered otherwise is ``left_out``: what it includes depends on how it was read.
    """

    def __init__(self, old: IncludeGraph, new: IncludeGraph, left_out: Container[str]) -> None:
        self._old, self._new, self._left_out = old, new, left_out
        self._shared = old.files & new.files
        self.of, self.own, self.reaches_none = cache(self._of), cache(self._own), cache(self._reaches_none)

    def _own(self, file: str) -> dict[str, Collection[Name]]:
        """What is missed behind a header, without what is missed behind one that it includes as before."""
        if file in self._left_out:
            return {}
        old, new = self._old, self._new
        kept = (old.reached(file) & new.reached(file) & self._shared) - {file}
        others = {header for each in kept if file not in old.reached(each) for header in self.of(each)}
        return {header: names for header, names in self.of(file).items() if header not in others}

    def _reaches_none(self, file: str, header: str) -> bool:
        """Whether sources lose a header that they had by a main one: none with which they may begin has it any more."""
        old = self._old
        entries = old.with_header(header) & old.entries & self._shared
        is_main = any(file in old.reached(each) for each in entries & old.main)
        return is_main and all(header in self.of(each) for each in entries)

    def _of(self, file: str) -> dict[str, Collection[Name]]:
        """The headers of both releases that one brings along no longer, each with what is known to be missed of it.

        Nothing is missed of a header whose declarations come by others.
        """
        old, new = self._old, self._new
        kept, found = new.reached(file), dict[str, Collection[Name]]()
        for each in (old.reached(file) & new.files) - kept:
            missing = [name for name in old.names.get(each, ()) if new.declares_beyond(kept, name)]
            if missing:
                found[each] = missing
        return found
