"""What both sides' headers show: which were given, what chose between their declarations, who makes objects."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.diffing.context import Context
from abistore.diffing.parts import HeaderIncludes, PrivateTail
from abistore.diffing.side import SideFacts
from abistore.model.declarations import SELF, Changed, Declared, Name, Removed, Subject
from abistore.model.findings import NOT_RECORDED, NotChecked
from abistore.model.names.qualified import last_component
from abistore.model.names.symbols import primary
from abistore.model.shapes import AnyShape, AskedCompiler, Field, Function, Named, Pointer, Qualified, Record
from abistore.model.snapshot import (
    ABILITIES,
    CONDITIONS,
    INCLUDES,
    MACROS,
    MODES,
    TEMPLATE_BASES,
    AskedCondition,
    HeadersRead,
    only_described,
)
from abistore.patterns import pattern

ASKED_OF_COMPILERS = "headers-ask-compiler"


def asked_of_compilers(context: Context) -> Iterator[NotChecked]:
    """That other compilers, or versions of one, see declarations that the old headers did not have for them.

    What both sides pass over alike is no difference.
    """
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    if not isinstance(old, HeadersRead) or not isinstance(new, HeadersRead):
        return
    if MODES not in old.facts or MODES not in new.facts:
        return
    known = {(each.text, each.unread) for each in old.compilers}
    asked = [each for each in new.compilers if (each.text, each.unread) not in known]
    if asked:
        more = f"; and {len(asked) - MOST_SAID} more" if len(asked) > MOST_SAID else ""
        what = f"compilers with other values of these conditions see other declarations: {_compilers(asked)}{more}"
        hint = "compile a program with each compiler; libclang reads the headers as Clang does"
        yield NotChecked("source", "new", ASKED_OF_COMPILERS, what, hint)


def _compilers(asked: list[AskedCompiler]) -> str:
    return "; ".join(f"`{each.text}` in {each.file}" for each in asked[:MOST_SAID])


PASSED_OVER: Final[Mapping[str, str]] = {
    MACROS: "macros with parameters and without a value",
    INCLUDES: "the includes between headers",
    TEMPLATE_BASES: "the bases of class templates",
    ABILITIES: "the operations that programs can use on classes",
}
"""What is compared only where both sides' headers were asked for it."""


def unread(context: Context) -> Iterator[NotChecked]:
    """What is not compared, as a former version read one side's headers alone, and what other compilers see."""
    for fact, words in PASSED_OVER.items():
        passing = [_passes_over(side, fact) for side in (context.old, context.new)]
        if passing[0] != passing[1]:
            yield _unrecorded(passing[0], f"its headers were read by a version of abistore that skipped {words}")
    passing = [_passes_over(side, MODES) for side in (context.old, context.new)]
    if passing[0] != passing[1] and (modes := _modes((context.old, context.new)[passing[0]])):
        what = f"its headers were read in one mode only, and the other side's declarations differ in {modes}"
        yield _unrecorded(passing[0], what)
    yield from asked_of_compilers(context)


def _unrecorded(is_old: bool, what: str) -> NotChecked:
    hint = "store the release again with its headers, so that these can be compared"
    return NotChecked("source", "old" if is_old else "new", NOT_RECORDED, what, hint)


def _modes(side: SideFacts) -> str:
    read = side.snapshot.provenance.headers
    return ", ".join(each.name for each in read.modes) if isinstance(read, HeadersRead) else ""


def tell(context: Context, fact: str) -> bool:
    """Whether both sides' headers were asked for a later fact."""
    return not any(_passes_over(side, fact) for side in (context.old, context.new))


def _passes_over(side: SideFacts, fact: str) -> bool:
    read = side.snapshot.provenance.headers
    if not isinstance(read, HeadersRead) or not read.files or fact in read.facts:
        return False
    return fact != ABILITIES or read.language == "c++"


def not_given(side: SideFacts, other: SideFacts) -> tuple[str, ...]:
    """What ``other`` was given with ``--header`` and ``side`` was not: ``b.h``, or a folder ``extra/``.

    A header that is gone from a folder is no such thing, where both sides were given one. Its name is no matter:
    ``foo-1.2/`` stands for ``foo-1.3/``, and a header that is the only one for another that is. Nor is one that was
    given by itself and that the other side's folder does not hold.
    """
    own, others = side.snapshot.provenance.headers, other.snapshot.provenance.headers
    if not isinstance(own, HeadersRead) or not isinstance(others, HeadersRead):
        return ()
    if own.given == others.given or not own.given or not others.given or _are_single(own, others):
        return ()
    lacking = (file for file in _lacking(own, given_files(others)) if not is_absent(file, own, others))
    return (*lacking, *_folders_beyond(own, others))


def is_left_to_others(name: Name, old: SideFacts, new: SideFacts) -> bool:
    """Whether one side's headers have a declaration in a file that the other's leave to another library."""
    for side, other in ((old, new), (new, old)):
        read = other.snapshot.provenance.headers
        if isinstance(read, HeadersRead) and read.others and side.files.get(name) in read.others:
            return True
    return False


def lying_there(side: SideFacts, files: Iterable[str]) -> tuple[str, ...]:
    """Those of the ``files`` that lie beside the headers that ``side`` was given."""
    read = side.snapshot.provenance.headers
    beside = {name for folder in read.folders for name in folder.beside} if isinstance(read, HeadersRead) else ()
    return tuple(file for file in files if file in beside)


def read_otherwise(side: SideFacts, other: SideFacts) -> frozenset[str]:
    """The options with which the headers of only one side were read, but those that its headers do not ask for."""
    own, others = side.snapshot.provenance.headers, other.snapshot.provenance.headers
    if not isinstance(own, HeadersRead) or not isinstance(others, HeadersRead):
        return frozenset()
    apart = frozenset(own.options) ^ frozenset(others.options)
    return apart - frozenset(own.unasked) - frozenset(others.unasked)


def selects(option: str) -> bool:
    """Whether an option chooses between declarations of one name, so that others of them are not seen.

    Names that the language reserves are the compiler's own business.
    """
    return option.startswith(("--clang-", "--define ")) and not option.startswith("--define _")


def _are_single(own: HeadersRead, others: HeadersRead) -> bool:
    return len(own.given) == len(others.given) == 1 and bool(given_files(own)) == bool(given_files(others))


def given_files(read: HeadersRead) -> tuple[str, ...]:
    """The headers that were given by themselves."""
    return tuple(each for each in read.given if not each.endswith("/"))


def given_folders(read: HeadersRead) -> frozenset[str]:
    """The folders of which all headers were given: ``include/``."""
    return frozenset(read.given) - frozenset(given_files(read))


def _lacking(read: HeadersRead, files: Iterable[str]) -> list[str]:
    """Those of the ``files`` that were not read, by themselves or anywhere in a folder."""
    names = _names(read) if given_folders(read) else frozenset()
    known = frozenset(read.files)
    return [file for file in files if file not in known and PurePosixPath(file).name not in names]


def is_absent(file: str, own: HeadersRead, others: HeadersRead) -> bool:
    """Whether the folder in which the other side's ``file`` lies was listed for this side, and does not hold it.

    A folder is that of the other side where headers were given of both that have one name, or where each side has one.
    In it base names are kept apart: what comes before them depends on which headers of other folders were given.
    """
    folders = [folder for folder in others.folders if file in folder.given]
    known = {name for folder in folders for name in folder.given}
    same = [folder for folder in own.folders if not known.isdisjoint(folder.given)]
    if not same and folders and len(own.folders) == len(others.folders) == 1:
        same = [*own.folders]
    lying = {PurePosixPath(name).name for folder in same for name in (*folder.given, *folder.beside)}
    return bool(same) and PurePosixPath(file).name not in lying


def _names(read: HeadersRead) -> frozenset[str]:
    return frozenset(PurePosixPath(each).name for each in read.files)


def _folders_beyond(own: HeadersRead, others: HeadersRead) -> tuple[str, ...]:
    """The folders that only the other side was given, if it was given more of them and has headers of its own there."""
    if len(given_folders(others)) <= len(given_folders(own)):
        return ()
    names = _names(own)
    if all(PurePosixPath(each).name in names for each in others.files):
        return ()
    return tuple(sorted(given_folders(others) - given_folders(own)))


_OF_MACHINE: Final = pattern(r"[a-z0-9_]+-(?:linux|kfreebsd)-(?:gnu|musl|uclibc)[a-z0-9]*/")
"""A folder that compilers of a distribution search for one machine (Debian's multiarch): ``x86_64-linux-gnu/``."""

_OF_RELEASE: Final = pattern(
    r"""(?:[^/]*[-_])?v?\d+(?:[._]\d+)*/
    | (?:[^/]+/)*(?:[^/]+[-_]v?\d+(?:[._]\d+)+|v?\d+(?:[._]\d+){2,})/""",
    re.VERBOSE,
)
"""A folder that is called after a release, as ``foo-1.2/`` or ``boost-1_83/``: programs search it, and do not name it.

``SDL2/`` is none: a number without a separator is a part of the name. Within others (``foo/v2/``) a number may
tell an interface from others that stay. A name with a version, and all three numbers of one, tell a release there too.
"""


def include_names_lost(side: SideFacts, other: SideFacts) -> list[str]:
    """The headers of ``other`` that programs cannot include by their names with ``side``, sorted.

    None where ``side`` was not given the folder, or where it is not known what was given.
    """
    own, others = side.snapshot.provenance.headers, other.snapshot.provenance.headers
    if not isinstance(own, HeadersRead) or not isinstance(others, HeadersRead):
        return []
    known_as_given = bool(own.given and others.given)
    unknown = not_given(side, other)
    if any(each.endswith("/") for each in unknown) or not (known_as_given or set(own.files) & set(others.files)):
        return []
    by_themselves = frozenset(given_files(others)) if given_files(own) else frozenset()
    are_alike = bool(given_files(own)) == bool(given_files(others))
    there = frozenset(name for file in own.files for name in _include_names(file, own, whole=are_alike))
    return sorted(
        file
        for file in frozenset(others.files).difference(own.files, others.others, unknown)
        if there.isdisjoint(_include_names(file, others, whole=are_alike))
        and (file not in by_themselves or not known_as_given or is_absent(file, own, others))
    )


def _include_names(file: str, read: HeadersRead, *, whole: bool) -> Iterator[str]:
    """What a header may be included as: by its path in the folder that was given, or in one that this lies in.

    A header that was given by itself says nothing of the folders around it: beside a folder no path is ``whole``.
    """
    name = include_name(file, read)
    yield name
    for folder in given_folders(read):
        yield folder + name
    if not whole:
        yield PurePosixPath(file).name


def include_name(file: str, read: HeadersRead) -> str:
    """The name by which programs include a header: without the folders that they search."""
    folders = given_folders(read)
    given = f"{file.partition('/')[0]}/"
    name = file.removeprefix(given) if len(folders) > 1 and given in folders else file
    if of_machine := _OF_MACHINE.match(name):
        name = name[of_machine.end() :]
    while (of_release := _OF_RELEASE.match(name)) is not None:
        name = name[of_release.end() :]
    return name


def fewer_includes(old: HeadersRead, new: HeadersRead) -> Iterator[Removed[HeaderIncludes]]:
    """For each header of both sides that includes less: what it includes no longer."""
    if not all(INCLUDES in read.facts for read in (old, new)):
        return
    after = {each.file: each.includes for each in new.outlines}
    left = (*old.set_aside, *new.set_aside, *old.others, *new.others)
    shared = set(old.files).intersection(new.files).difference(left)
    for each in old.outlines:
        gone = tuple(file for file in each.includes if file not in after.get(each.file, ()))
        if gone and each.file in shared:
            yield Removed(Subject(SELF, each.file), HeaderIncludes(each.file, gone))


def told_renames(record: Name, gone: Collection[str], come: Collection[str], context: Context) -> Mapping[str, str]:
    """The new names of members of ``record`` that are ``gone``, where no two members begin with the same value."""
    old, new = (_values(record, side) for side in (context.old, context.new))
    before = {member: text for member, text in old.items() if member in gone}
    after = {text: member for member, text in new.items() if member in come}
    if not len(set(before.values())) == len(before) == len(after):
        return {}
    return {member: after[text] for member, text in before.items() if text in after}


def _values(record: Name, side: SideFacts) -> Mapping[str, str]:
    texts = (shape for shape in side.variants("source", record) if isinstance(shape, Declared))
    return {member: value for text in texts for member, value in text.expressions}


def library_constructs(record: Changed[Record], context: Context) -> bool:
    """Whether programs can make objects through exports only, and copy them with all their bytes.

    Headers alone tell: debug information has no template of a constructor, and no inherited one, that nothing uses.
    """
    name = record.subject.name
    if not context.old.consumers.offers(name) or _has_unnamed_constructors(name, context.old):
        return False
    declared = context.old.tables.constructors(name)
    every = [each for shapes in declared.values() for each in shapes]
    if not any(map(is_provided, every)):
        return False
    called = _called(declared, context)
    return _are_exported(called, context) and (any(takes(each, name) for each in every) or _copied(record, context))


def library_handles(name: Name, context: Context) -> bool:
    """Whether programs make, copy, move, assign and destroy objects of a class through exports only.

    Compilers write what nobody declared into programs: a destructor, and what copies and assigns. They write no
    constructor where one is declared that takes an object, and no assignment where that one moves.
    """
    if not context.old.consumers.offers(name) or _has_unnamed_constructors(name, context.old):
        return False
    made, handled = context.old.tables.constructors(name), context.old.tables.handling(name)
    constructors = [each for shapes in made.values() for each in shapes]
    others = [each for shapes in handled.values() for each in shapes]
    copied = any(takes(each, name) for each in constructors)
    assigned = any(takes(each, name) for each in others) or any(takes(each, name, ("&&",)) for each in constructors)
    destroyed = any(not each.parameters for each in others)
    called = _called({**made, **handled}, context)
    return copied and assigned and destroyed and _are_exported(called, context)


def _called(functions: Mapping[Name, Sequence[Function]], context: Context) -> Iterator[Name]:
    return (each for each, shapes in functions.items() if not _is_closed(each, shapes[0], context.old))


def _has_unnamed_constructors(name: Name, side: SideFacts) -> bool:
    """Whether a class has constructors by ``using Base::Base``, or those of the template that it is an instance of."""
    inherited = Name("alias", f"{name.spelling}::{last_component(name.spelling)}")
    return "<" in name.spelling or bool(side.variants("source", inherited))


def is_provided(constructor: Function) -> bool:
    """Whether somebody wrote a constructor: a class of which no one did may be initialised by its members."""
    method = constructor.method
    return method is not None and not (method.defaulted or method.deleted)


def _is_closed(name: Name, constructor: Function, side: SideFacts) -> bool:
    """Whether no code of programs calls a constructor: it is deleted, or private and not used by an inline function."""
    deleted = constructor.method is not None and constructor.method.deleted
    return deleted or side.consumers.out_of_reach(name)


def _are_exported(constructors: Iterable[Name], context: Context) -> bool:
    """Whether both releases export each of these, by one symbol of it at least, and programs have no copy of it."""
    found: dict[str, bool] = {}
    for each in constructors:
        exported = context.exported(each) and not context.has_own_copy(each)
        found[primary(each.spelling)] = exported or found.get(primary(each.spelling), False)
    return all(found.values())


def takes(member: Function, owner: Name, by: Collection[str] = ("&", "&&")) -> bool:
    """Whether a constructor or an assignment takes another object of its class: compilers write none that does, then.

    ``by`` holds the kinds of references that count.
    """
    taken = member.parameters[0] if len(member.parameters) == 1 else None
    if not isinstance(taken, Pointer) or taken.sort not in by:
        return False
    target = taken.target.target if isinstance(taken.target, Qualified) else taken.target
    return target == Named(owner)


def _copied(record: Changed[Record], context: Context) -> bool:
    """Whether copies that compilers write have all bytes: they go field by field else, or through registers."""
    return record.old.passing == "value" and not context.passed_with(record.subject.name)


class ShownPart(NamedTuple):
    """A record as far as headers show it, and what stands behind that."""

    shown: Record
    tail: PrivateTail
    lying: tuple[object, ...]
    """How the tail lies from its own start: what only moved as a whole, as the shown members before it, is the same."""


def shown_parts(context: Context, names: tuple[Name, Name], shapes: tuple[AnyShape, AnyShape]) -> tuple[ShownPart, ...]:
    """Both sides' records, divided; nothing where programs may notice what stands behind the members they know.

    Such a header ends the record, or hides the rest from everybody but the library::

        struct engine { int state; /* the first members of an object that the library makes */
        #ifdef LIB_INTERNAL
            struct queue *jobs;
        #endif
        };

    Programs hold pointers to such an object at most. One of their own would have no room for the rest.
    """
    old, consumers = names[0], context.old.consumers
    if not consumers.library_allocates(old) or consumers.gets_arrays(old) or consumers.hold(old):
        return ()
    sides = (context.old, context.new)
    found = [_divided(*each) for each in zip(sides, names, shapes, strict=True)]
    parts = tuple(each for each in found if each is not None)
    return parts if len(parts) == len(sides) and _is_withheld(old, context.old) else ()


def _divided(side: SideFacts, name: Name, shape: AnyShape) -> ShownPart | None:
    """A record of debug information, divided where its header ends; ``None`` where they tell otherwise or the same."""
    header = only_described(side.variants("source", name))
    if not isinstance(header, Record) or not isinstance(shape, Record) or shape.sort == "union":
        return None
    count = len(header.fields)
    if not 0 < count < len(shape.fields) or header.fields != shape.fields[:count]:
        return None
    if (header.sort, header.bases, header.virtuals) != (shape.sort, shape.bases, shape.virtuals):
        return None
    if header.size > shape.size or only_described(side.variants("layout", name)) != shape:
        return None
    shown = replace(shape, fields=header.fields, size=header.size, alignment=header.alignment)
    tail = shape.fields[count:]
    return ShownPart(shown, PrivateTail(name, replace(shape, fields=tail), count), _lying(tail, shape))


def _lying(tail: tuple[Field, ...], record: Record) -> tuple[object, ...]:
    start = tail[0].offset
    fields = tuple(replace(each, offset=each.offset - start) for each in tail)
    return (*fields, 8 * record.size - start, record.alignment)


def _is_withheld(name: Name, side: SideFacts) -> bool:
    """Whether the header leaves members out on purpose, and is none of a release that did not have them yet.

    A condition in it does not hold for programs, or the library was built with a definition in another file.
    """
    read, file = side.snapshot.provenance.headers, side.files.get(name, "")
    if not isinstance(read, HeadersRead) or not file:
        return False
    asked = (each for condition in read.conditions if not condition.held for each in condition.files)
    return any(_is_one(file, each) for each in asked) or not any(_is_one(file, each) for each in read.files)


def _is_one(file: str, header: str) -> bool:
    """Whether the file of debug information may be this header: ``src/lib.h`` is ``lib.h``."""
    return f"/{file}".endswith(f"/{header}") or f"/{header}".endswith(f"/{file}")


MOST_SAID = 3
"""How many conditions are told."""

_OF_LANGUAGE = pattern(r"\b(?:__cplusplus|__STDC_VERSION__|__STRICT_ANSI__|__cpp_\w+|__has_\w+)\b")
"""What the language and its standard decide."""


class AskedOtherwise(msgspec.Struct, frozen=True):
    """The conditions that chose otherwise on each side, and the headers that they stand in."""

    old: tuple[AskedCondition, ...]
    new: tuple[AskedCondition, ...]
    files: frozenset[str]


class _Answers(msgspec.Struct, frozen=True):
    """What the headers of one side asked, and what decided it."""

    read: HeadersRead
    held: Mapping[tuple[str, str], frozenset[bool]]
    outside: frozenset[str]
    language: tuple[str, ...]


def chosen_otherwise(context: Context) -> AskedOtherwise | None:
    """The conditions of both sides' headers that chose otherwise; ``None`` where all chose alike, or nobody knows."""
    return context.once(_compared)


def is_chosen_otherwise(context: Context, name: Name) -> bool:
    """Whether a header that declares ``name`` on one side has such a condition."""
    asked = chosen_otherwise(context)
    if asked is None:
        return False
    places = (side.snapshot.locations.get(name) for side in (context.old, context.new))
    return any(place.file in asked.files for place in places if place is not None)


def said(asked: AskedOtherwise) -> str:
    """Which conditions chose otherwise, where, and by what."""
    sides = (("old", asked.old), ("new", asked.new))
    told = list(dict.fromkeys(_said(each, side) for side, found in sides for each in found))
    more = f"; and {len(told) - MOST_SAID} more" if len(told) > MOST_SAID else ""
    return "; ".join(told[:MOST_SAID]) + more


def _said(condition: AskedCondition, side: str) -> str:
    by = f", with {', '.join(condition.outside[:MOST_SAID])} there" if condition.outside else ""
    holds = "holds" if condition.held else "does not hold"
    return f"`{condition.text}` in {condition.files[0]} {holds} for the {side} side{by}"


def _compared(context: Context) -> AskedOtherwise | None:
    old, new = (_answers(side.snapshot.provenance.headers) for side in (context.old, context.new))
    if old is None or new is None:
        return None
    found = _otherwise(old, new), _otherwise(new, old)
    files = frozenset(file for asked in found for each in asked for file in each.files)
    return AskedOtherwise(*found, files) if any(found) else None


def _answers(read: object) -> _Answers | None:
    """What headers asked; ``None`` where nobody looked."""
    if not isinstance(read, HeadersRead) or CONDITIONS not in read.facts:
        return None
    held: dict[tuple[str, str], frozenset[bool]] = {}
    for each in read.conditions:
        held[each.asked] = held.get(each.asked, frozenset()) | {each.held}
    outside = frozenset(macro for each in read.conditions for macro in each.outside)
    return _Answers(read, held, outside, (read.language, *(one for one in read.options if one.startswith("--std "))))


def _otherwise(own: _Answers, other: _Answers) -> tuple[AskedCondition, ...]:
    """The conditions of one side that were answered otherwise on the other.

    One that the other does not ask is such where a macro of others, or the language, would answer otherwise there.
    """
    apart = own.outside ^ other.outside
    is_other_language = own.language != other.language

    def differs(each: AskedCondition) -> bool:
        answers = other.held.get(each.asked)
        if answers is not None:
            return own.held[each.asked].isdisjoint(answers)
        return not apart.isdisjoint(each.outside) or (is_other_language and _OF_LANGUAGE.search(each.text) is not None)

    return tuple(filter(differs, own.read.conditions))
