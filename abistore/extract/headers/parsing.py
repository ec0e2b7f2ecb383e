"""From the given headers, and edits of them, to translation units."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.errors import HeaderError, PathDenied
from abistore.extract.headers import clang
from abistore.extract.headers import cursors as kinds
from abistore.extract.headers.clang import TranslationUnit
from abistore.extract.headers.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.faults import (
    MISSING,
    HeaderFault,
    defined_macros,
    hint_of,
    is_of_cpp,
    nothing_parsed,
    used_as_attributes,
)
from abistore.extract.headers.given import GivenHeader, GivenHeaders, is_text_of_headers
from abistore.extract.headers.invocation import (
    UMBRELLA,
    Invocation,
    Reading,
    is_newer,
    may_be_precompiled,
    newest,
    umbrella,
)
from abistore.extract.headers.precompiled import Precompiled, StandardText, is_indifferent, precompiled
from abistore.extract.headers.texts import ReadTexts, fragments
from abistore.extract.headers.toolchain import StandardHeadersMissing, missing
from abistore.extract.reader import EditedHeader, HeaderEdits
from abistore.files import open_file, roots, status

_REFUSALS = ("unknown argument", "unsupported argument", "unsupported option")
_TWICE = "redefinition"
"""In what clang says of a definition that it met before."""

_LEADS_OUT = re.compile(r"^'/|\.\.")


class HeaderUnit(msgspec.Struct):
    """A translation unit, the headers that it was made for, what it could not read, and the files that it read.

    Of ``expected`` headers the text begins with those that old ones leave to their consumers. ``errs_in_bodies`` is
    ``None`` until somebody asks. ``after`` is what it goes on from.
    """

    unit: clang.TranslationUnit
    headers: Sequence[GivenHeader]
    faults: Sequence[HeaderFault]
    files: Sequence[clang.IncludedFile]
    expected: bool = False
    errs_in_bodies: bool | None = None
    after: Path | None = None

    @property
    def faulty(self) -> frozenset[str]:
        """The headers with errors in their own text."""
        return frozenset(fault.header for fault in self.faults if fault.own)

    @property
    def lacking(self) -> frozenset[str]:
        """Those of them that include a file that is not found."""
        return frozenset(fault.header for fault in self.faults if fault.own and fault.is_missing_file)


class ParsedHeaders(msgspec.Struct):
    """What was parsed: the umbrella, and headers that parse by themselves only. ``set_aside`` do not parse at all.

    Those that are ``left_out`` stand at the end of the umbrella, and nothing that they declare counts.
    """

    reading: Reading
    units: Sequence[HeaderUnit]
    set_aside: Mapping[str, Sequence[HeaderFault]]
    faults: Sequence[HeaderFault]
    left_out: frozenset[str] = frozenset()

    @property
    def causes(self) -> Sequence[HeaderFault]:
        """The errors in the text of given headers, also of those that are set aside."""
        aside = (fault for faults in self.set_aside.values() for fault in faults)
        return [fault for fault in (*self.faults, *aside) if fault.own]

    @property
    def bad(self) -> frozenset[str]:
        """The headers with such errors."""
        return frozenset(fault.header for fault in self.causes)


class HeaderParser:
    """Parses headers in one way after the other."""

    def __init__(self, given: GivenHeaders, invocation: Invocation, texts: ReadTexts) -> None:
        self.given = given
        self.invocation = invocation
        self.texts = texts
        self.system_folders = invocation.system_folders
        self._folder = lru_cache(None)(os.path.realpath)
        self.canonical = lru_cache(None)(self._without_links)
        self.public = lru_cache(None)(self._name)
        self._standard: Callable[[Reading], Precompiled | None] = lru_cache(None)(self._precompiled)
        self._is_quotable = lru_cache(None)(is_text_of_headers)
        self._shown = lru_cache(None)(self._named)
        self.readings: Sequence[Reading] = ()
        self._left_out = frozenset[str]()

    def _without_links(self, path: str) -> str:
        """A path as the system resolves it; each folder is looked at once."""
        folder, name = os.path.split(path)
        found = Path(self._folder(folder), name)
        return os.path.realpath(path) if name in ("", "..") or found.is_symlink() else str(found)

    def _name(self, path: str) -> str | None:
        """What a file that libclang names is called, where it is one of those given."""
        name = self.given.name(self.canonical(path))
        return None if name in self._left_out else name

    def beside(self, path: str, *, system: bool) -> str | None:
        """What a file is called that lies in the folder of a header that was given by itself, or below.

        In a folder of the system it lies beside all others: there it is one that was not found as the system's are.
        """
        return self.given.beside(self.canonical(path), self.system_folders if system else ())

    def surrounds(self, path: str) -> bool:
        """Whether a file lies in a folder of given headers, or below: one that is none of the system's."""
        return self.given.surrounds(self.canonical(path), self.system_folders)

    def lent(self, path: str) -> bool:
        """Whether a file lies in a folder with headers of another project."""
        return self.canonical(path).startswith(self._lent)

    @cached_property
    def _lent(self) -> tuple[str, ...]:
        return tuple(f"{each.resolve()}{os.sep}" for each in self.invocation.options.lent_dirs)

    def widen(self, given: GivenHeaders) -> bool:
        """Take these headers for public from now on; whether they are more than before."""
        if len(given.headers) == len(self.given.headers):
            return False
        self.given = given
        self._forget_names()
        return True

    def _forget_names(self) -> None:
        self.public.cache_clear()
        self._shown.cache_clear()

    def parse(self, readings: Sequence[Reading]) -> ParsedHeaders:
        """All headers, in the first way in which all parse, else in the one in which the most do.

        Raises :class:`HeaderError` where nothing parses.
        """
        self.readings = readings
        reading, others = readings[0], list(readings[1:])
        unit = self._in_order(
            reading, self._once_each(reading, self._without_parts(reading, self._whole(reading, self.given.headers)))
        )
        while others and unit.lacking < unit.faulty:
            probe = newest(others, reading)
            newer = [each for each in others if each == probe or is_newer(each, reading)]
            others = [each for each in others if each not in newer]
            few = [each for each in unit.headers if each.name in unit.faulty]
            left = self._unit(probe, few, expected=True).faulty
            for each in newer if len(left) < len(few) else ():
                other = self._in_order(each, self._whole(each, _with_last(unit.headers, left), expected=True))
                if len(other.faulty) < len(unit.faulty):
                    unit, reading = other, each
                    break
        best = self._finished(reading, unit)
        self._refuse_without_standard_headers(best)
        if not best.units:
            raise nothing_parsed(len(self.given.headers), best.set_aside)
        self._leave_out(best.left_out)
        return best

    def _refuse_without_standard_headers(self, parsed: ParsedHeaders) -> None:
        """Raise :class:`StandardHeadersMissing` where they are missing behind all that was read.

        A header that could not be read for that is left out, if others could.
        """
        aside = [fault for faults in parsed.set_aside.values() for fault in faults]
        faults = [each for each in (parsed.faults if parsed.units else aside) if self._lacks(each)]
        if faults:
            system, hint = missing(self.invocation.toolchain.triple)
            said = "; ".join(dict.fromkeys(each.said for each in faults[:3]))
            raise StandardHeadersMissing(f"the standard headers of {system} are not on this machine: {said}", hint)

    def _lacks(self, fault: HeaderFault) -> bool:
        """Whether an error tells of a file that may be a standard header of a system of which there are none."""
        lacks = self.invocation.toolchain.lacks
        return fault.is_missing_file and (lacks == "all" or (lacks == "c++" and is_of_cpp(fault)))

    def hint_of(self, faults: Iterable[HeaderFault], *, hide: Sequence[str] = ()) -> str:
        """How to mend what did not parse: what to give, or which headers to ``hide``."""
        faults = list(faults)
        if any(map(self._lacks, faults)):
            return missing(self.invocation.toolchain.triple)[1]
        return hint_of(faults, hide=hide)

    def _leave_out(self, names: frozenset[str]) -> None:
        if names != self._left_out:
            self._left_out = names
            self._forget_names()

    def _in_order(self, reading: Reading, unit: HeaderUnit) -> HeaderUnit:
        """The unit with those headers last that have errors, as long as that leaves fewer of them.

        No order finds a file that is missing.
        """
        remaining = len(self.given.headers) + 1
        while len(unit.lacking) < len(unit.faulty) < remaining:
            remaining = len(unit.faulty)
            headers = _with_last(unit.headers, unit.faulty)
            if unit.expected and headers == [*unit.headers]:
                break
            unit = self._whole(reading, headers, expected=True)
        return unit

    def _finished(self, reading: Reading, unit: HeaderUnit) -> ParsedHeaders:
        """What was parsed: headers with errors are tried by themselves."""
        if not unit.faulty and not self._unmet([unit]):
            return ParsedHeaders(reading, [unit], {}, unit.faults)
        return self._apart(reading, unit)

    def _without_parts(self, reading: Reading, unit: HeaderUnit) -> HeaderUnit:
        """The unit without headers that others include within a namespace or class, unless more err without them."""
        parts = fragments(unit.unit, unit.files, self.public)
        rest = [each for each in unit.headers if each.name not in parts]
        if not parts or not rest:
            return unit
        better = self._whole(reading, rest)
        return better if len(better.faulty) <= len(unit.faulty) else unit

    def _once_each(self, reading: Reading, unit: HeaderUnit) -> HeaderUnit:
        """The unit, or a better one without headers that err and that others include, by which alone they can be.

        So ``foo.h`` includes ``foo_parts.h``, and who includes both has each definition twice, where there is no
        include guard, or an error: ``#error include foo.h instead``.
        """
        others = {self.public(each.file) for each in unit.files if each.by not in ("", *UMBRELLA.values())}
        again = frozenset(each.header for each in unit.faults if each.own and (each.refuses or _TWICE in each.said))
        again &= others
        once = [each for each in unit.headers if each.name not in again]
        if not again or not once:
            return unit
        better = self._whole(reading, once)
        return better if len(better.faulty) < len(unit.faulty) else unit

    def _unmet(self, units: Iterable[HeaderUnit]) -> list[GivenHeader]:
        met = {self.public(each.file) for unit in units for each in unit.files}
        met.update(each.name for unit in units for each in unit.headers)
        return [each for each in self.given.headers if each.name not in met]

    def _whole(self, reading: Reading, headers: Sequence[GivenHeader], *, expected: bool = False) -> HeaderUnit:
        """All headers in one unit, which goes on from those of the C++ library where that makes no difference."""
        standard = self._standard(reading)
        if standard is not None:
            unit = self._unit(reading, headers, expected=expected, after=standard.path)
            own = all(fault.own for fault in unit.faults)  # not so where the precompiled ones are refused
            if own and is_indifferent(unit.unit, standard.record, self.canonical, self.given.name):
                self.texts.standard = standard.record
                return unit
            standard.refuse()
            self._standard = lambda _: None
        return self._unit(reading, headers, expected=expected)

    def _precompiled(self, reading: Reading) -> Precompiled | None:
        """The headers of the C++ library that the given ones include, parsed before."""
        invocation = self.invocation
        if reading.language != "c++" or not may_be_precompiled(invocation):
            return None
        text = StandardText(
            invocation.standard.names,
            invocation.own_arguments(reading),
            invocation.toolchain.replaced,
            self.system_folders,
            self.canonical,
            invocation.standard.consumers,
        )
        found = precompiled(text)
        return None if found is None or found.record.is_shadowed(invocation.searched) else found

    def _apart(self, reading: Reading, whole: HeaderUnit) -> ParsedHeaders:
        """Headers of which some have errors: those parse by themselves, or are set aside if no other includes them.

        One that errs in the bodies of functions alone declares everything, and stays: its errors are told.
        """
        broken = self._lacking_files(reading, whole)
        left = [each for each in whole.headers if each.name in whole.faulty and each.name not in broken]
        fine, failed = self._alone(reading, left)
        broken |= failed
        rest = [each for each in whole.headers if each.name not in whole.faulty]
        left_out = frozenset(broken) if rest and not fine and self._stand_last(broken, whole) else frozenset[str]()
        units = [*fine]
        if left_out:
            units.insert(0, self._before(whole, rest, left_out))
        elif rest:
            units.insert(0, self._unit(reading, rest, expected=True))
        fine, failed = self._alone(reading, [each for each in self._unmet(units) if each.name not in broken])
        units, broken = [*units, *fine], broken | failed
        aside = {each.name: broken[each.name] for each in self._unmet(units)}
        return ParsedHeaders(reading, units, aside, [fault for unit in units for fault in unit.faults], left_out)

    def _stand_last(self, broken: Collection[str], whole: HeaderUnit) -> bool:
        """Whether what stands before the headers that do not parse has no error, and includes none of them."""
        last = [each.name for each in whole.headers[len(whole.headers) - len(broken) :]]
        own = {self.public(each.file) for each in whole.files if each.by not in ("", *UMBRELLA.values())}
        return sorted(last) == sorted(broken) and own.isdisjoint(broken)

    def _before(self, whole: HeaderUnit, rest: Sequence[GivenHeader], left_out: frozenset[str]) -> HeaderUnit:
        by: dict[str, str] = {}
        for each in whole.files:
            by.setdefault(each.file, each.by)
        files = [each for each in whole.files if left_out.isdisjoint(map(self.public, _chain(each.file, by)))]
        faults = [fault for fault in whole.faults if fault.header not in left_out]
        return HeaderUnit(whole.unit, rest, faults, files, whole.expected, after=whole.after)

    def _alone(
        self, reading: Reading, headers: Iterable[GivenHeader]
    ) -> tuple[list[HeaderUnit], dict[str, Sequence[HeaderFault]]]:
        """Those that parse by themselves, a unit each, and what is wrong with the others, for which no body is read."""
        fine, failed = [], dict[str, Sequence[HeaderFault]]()
        for each in headers:
            unit = self._unit(reading, [each], expected=True, bodies=False)
            sound = not unit.faults
            if not unit.faulty:
                unit = self._unit(reading, [each], expected=True)
                unit.errs_in_bodies = sound
            if not unit.faulty or (sound and not unit.lacking):
                fine.append(unit)
            else:
                failed[each.name] = unit.faults
        return fine, failed

    def errs_in_bodies(self, reading: Reading, unit: HeaderUnit) -> bool:
        """Whether nothing is wrong where bodies of functions are passed over: they call intrinsics of gcc, say."""
        if unit.errs_in_bodies is None:
            whole = self._unit(reading, unit.headers, expected=unit.expected, bodies=False)
            unit.errs_in_bodies = not whole.faults
        return unit.errs_in_bodies

    def with_text(self, reading: Reading, unit: HeaderUnit, text: str, *, bodies: bool = False) -> HeaderUnit:
        """The headers of a unit again, with ``text`` behind them; without ``bodies`` those of functions are skipped."""
        return self._unit(reading, unit.headers, expected=unit.expected, bodies=bodies, after=unit.after, more=text)

    def declared(self, reading: Reading, unit: HeaderUnit) -> HeaderUnit:
        """The headers of a unit in another reading; bodies of functions are passed over."""
        return self._unit(reading, unit.headers, expected=unit.expected, bodies=False)

    def alone(
        self, reading: Reading, headers: Sequence[GivenHeader], without: Mapping[str, Iterable[str]]
    ) -> HeaderUnit:
        """Headers without these macros of others; bodies of functions are passed over."""
        return self._unit(reading, headers, expected=True, bodies=False, without=without)

    def _lacking_files(self, reading: Reading, whole: HeaderUnit) -> dict[str, Sequence[HeaderFault]]:
        """The headers that include files which are not found, each with its errors, from one unit of them all.

        A header of the others may define a macro because of which they include these files: they are left out of it.
        """
        lacking = [each for each in whole.headers if each.name in whole.lacking]
        if len(lacking) < 2:
            return {}
        unit = self._unit(reading, lacking, expected=True, bodies=False)
        return {name: [fault for fault in unit.faults if fault.header == name] for name in sorted(unit.lacking)}

    def _unit(
        self,
        reading: Reading,
        headers: Sequence[GivenHeader],
        *,
        expected: bool = False,
        bodies: bool = True,
        after: Path | None = None,
        more: str = "",
        without: Mapping[str, Iterable[str]] = MappingProxyType({}),
    ) -> HeaderUnit:
        text = umbrella(headers, expected=expected, without=without) + more
        arguments = self.invocation.arguments(reading)
        if after is not None:
            arguments += ["-include-pch", str(after)]
        replaced = {**self.invocation.toolchain.replaced, **self.invocation.edited}
        unit = clang.parsed(UMBRELLA[reading.language], text, arguments, replaced, bodies=bodies)
        if unit is None:
            raise HeaderError(
                "the headers cannot be parsed: libclang failed",
                "check --clang-arg, --std and --clang-target; if they are right, exclude headers with "
                "--private-header (a bug in libclang)",
            )
        if self.invocation.toolchain.built_ins.declaring and _errs_in(unit, self.invocation.toolchain.replaced):
            self.invocation = self.invocation.with_types_alone()
            return self._unit(
                reading, headers, expected=expected, bodies=bodies, after=after, more=more, without=without
            )
        self._check_arguments(unit)
        files = list(clang.included_files(unit))
        self._check_confined(unit, files)
        for name, held in clang.included_texts(unit):
            if name not in replaced:
                self.texts.note(name, held)
        faults = list(self._faults(unit, files))
        return HeaderUnit(unit, headers, faults, files, expected, after=after)

    def _faults(self, unit: clang.TranslationUnit, files: Iterable[clang.IncludedFile]) -> Iterator[HeaderFault]:
        by: dict[str, str] = {}
        for each in files:
            by.setdefault(each.file, each.by)
        names = {str(each.path): each.name for each in self.given.headers}
        known: frozenset[str] | None = None
        for error in clang.errors(unit):
            shown, quoted = self._shown(error.file)
            header = next(
                (names[path] for each in _chain(error.file, by) if (path := self.canonical(each)) in names), ""
            )
            by_whom = f"is included by {header} and " if header not in ("", shown) else ""
            said = f"{shown}:{error.line}: {error.message}" if quoted else f"{shown} {by_whom}cannot be parsed"
            if error.file in UMBRELLA.values():  # a header leaves something open, and the text that includes all ends
                said = f"at the end of the headers: {error.message}"
            own = self.public(error.file) is not None
            used = dict(used_as_attributes(error.text)) if own and quoted else {}
            if used and known is None:
                known = defined_macros(unit)
            defines = sorted(definition for name, definition in used.items() if name not in (known or ()))
            yield HeaderFault(header, own, said, tuple(defines), clang.is_refusal(error))

    def may_quote(self, file: str) -> bool:
        """Whether messages about a file may hold its text."""
        return self._shown(file)[1]

    def _named(self, file: str) -> tuple[str, bool]:
        """A file as messages name it, and whether its text may be quoted: no text of files that are no headers."""
        if not file:
            return "the command line", True
        path = Path(self.canonical(file))
        if name := self.public(file):
            return name, self._is_quotable(path)
        options = self.invocation.options
        own = [folder.path for folder in self.given.folders]
        given = (each.resolve() for each in (*options.include_dirs, *options.named_dirs))
        for folder in (*own, *given, *self.system_folders):
            if path.is_relative_to(folder):
                return path.relative_to(folder).as_posix(), self._is_quotable(path)
        return path.name, False

    def _check_arguments(self, unit: clang.TranslationUnit) -> None:
        """Raise :class:`HeaderError` where clang does not know an argument that was given for it: it left that out."""
        for error in clang.errors(unit):
            if not error.file and error.message.startswith(_REFUSALS):
                raise HeaderError(
                    f"clang {clang.major_version()} rejects an argument: {error.message}",
                    "remove it from --clang-arg, or correct its spelling; each argument needs its own --clang-arg",
                )

    def _check_confined(self, unit: clang.TranslationUnit, files: Iterable[clang.IncludedFile]) -> None:
        """Raise :class:`PathDenied` where a file was read that may not be: nothing of it is told.

        Nor whether it is there: one that is missed under a name that leads out is denied alike.
        """
        if roots() is None:
            return
        for error in clang.errors(unit):
            if MISSING in error.message and _LEADS_OUT.search(error.message):
                name = error.message.split("'")[1].rpartition("/")[2]
                raise PathDenied(f"{name}: not below a folder that may be read")
        system = self.system_folders
        for each in files:
            if each.file in self.invocation.edited:  # read from memory
                continue
            if any(Path(self.canonical(each.file)).is_relative_to(folder) for folder in system):
                continue
            found = status(Path(each.file))
            if (found.st_dev, found.st_ino) != (each.device, each.inode):
                raise PathDenied(f"{Path(each.file).name}: replaced while it was read")


def _with_last(headers: Iterable[GivenHeader], last: Container[str]) -> list[GivenHeader]:
    return sorted(headers, key=lambda each: each.name in last)


def _chain(file: str, by: Mapping[str, str]) -> Iterator[str]:
    seen = set()
    while file and file not in seen:
        seen.add(file)
        yield file
        file = by.get(file, "")


def _errs_in(unit: clang.TranslationUnit, files: Container[str]) -> bool:
    return any(error.file in files for error in clang.errors(unit))


TYPES = frozenset({*kinds.RECORDS, kinds.ENUM, kinds.TYPEDEF, kinds.ALIAS})
SCOPES = frozenset({kinds.NAMESPACE, kinds.LINKAGE, kinds.UNEXPOSED_DECL})


class Extent(NamedTuple):
    """The file of a declaration as libclang names it, its first byte and the one behind its last.

    ``unnamed``: it names an unnamed type, ``typedef struct { ... } point;``.
    """

    file: str
    start: int
    end: int
    unnamed: bool = False


class Placed(NamedTuple):
    """A declaration: its kind and qualified name, and its extent."""

    key: tuple[str, str]
    extent: Extent


def replaced(
    units: Iterable[TranslationUnit],
    snippet: TranslationUnit,
    text: str,
    read: Callable[[str], str],
    public: Callable[[str], str | None],
) -> Mapping[str, str]:
    """The texts of headers with the declarations of ``text`` in place of those of the same name, by file.

    ``snippet`` is the unit of ``text``; ``read`` gives a file's text, ``public`` the name of a given header. New names
    are under an empty file name, to go behind all headers, and so are overloads of functions that have several.
    """
    lib = libclang()
    known: dict[tuple[str, str], set[Extent]] = {}
    for unit in units:
        for key, extent in _placed(lib, unit):
            if public(extent.file) is not None:
                known.setdefault(key, set()).add(extent)
    data, new = text.encode(), list[str]()
    changes: dict[str, list[tuple[Extent, bytes]]] = {}
    declared: dict[tuple[str, str], set[Extent]] = {}
    for key, extent in _placed(lib, snippet):
        declared.setdefault(key, set()).add(extent)
    for key, extent in ((key, each) for key, extents in declared.items() for each in _outermost(extents)):
        said = data[extent.start : extent.end]
        places = _outermost(known.get(key, set()))
        if len(places) != 1:
            new.append(_in_namespaces(key[1], said.decode(errors="replace")))
        else:
            (place,) = places
            before = read(place.file).encode()[place.start : place.end]
            own = _in_form(said, before, key[1].rpartition("::")[2].encode())
            changes.setdefault(place.file, []).append((place, own))
    edited = {file: _spliced(read(file).encode(), each).decode(errors="replace") for file, each in changes.items()}
    return {**edited, "": "\n".join(new)} if new else edited


def _outermost(extents: set[Extent]) -> list[Extent]:
    """The extents that lie in no other one: clang tells ``typedef struct { ... } point;`` as two declarations."""
    return sorted(
        each
        for each in extents
        if not any(
            one != each and one.start <= each.start and each.end <= one.end for one in extents if one.file == each.file
        )
    )


_DEFINITION = re.compile(
    rb"(?P<typedef>typedef\s+)?(?P<sort>struct|union|class|enum)\s*(?P<tag>\w+\s*)?(?P<body>\{.*\})", re.DOTALL
)


def _in_form(said: bytes, before: bytes, name: bytes) -> bytes:
    """A definition in the form of the one that it replaces: what else names the type goes on naming it."""
    new, old = _DEFINITION.match(said), _DEFINITION.match(before)
    if new is None or old is None or (new["typedef"], new["tag"]) == (old["typedef"], old["tag"]):
        return said
    if old["typedef"]:
        return b"typedef %s %s%s %s" % (new["sort"], old["tag"] or b"", new["body"], name)
    return b"%s %s %s" % (new["sort"], name, new["body"])


def _spliced(data: bytes, changes: list[tuple[Extent, bytes]]) -> bytes:
    for extent, text in sorted(changes, reverse=True):
        data = data[: extent.start] + text + data[extent.end :]
    return data


def _in_namespaces(name: str, text: str) -> str:
    scopes = name.split("::")[:-1]
    return "".join(f"namespace {each} {{ " for each in scopes) + f"{text};" + " }" * len(scopes)


def _placed(lib: LibClang, unit: TranslationUnit) -> Iterator[Placed]:
    return _declared(lib, lib.top(unit), "")


def _declared(lib: LibClang, cursors: list[Cursor], scope: str) -> Iterator[Placed]:
    """The types, functions and variables in ``cursors`` and in their namespaces."""
    for cursor in cursors:
        kind = cursor.kind
        if kind in SCOPES:
            inner = f"{scope}{lib.spelling(cursor)}::" if kind == kinds.NAMESPACE else scope
            yield from _declared(lib, lib.children(cursor), inner)
        elif kind in TYPES or kind in (*kinds.FUNCTIONS, kinds.VARIABLE):
            name = lib.spelling(cursor)
            if name.isidentifier() and (kind not in kinds.RECORDS or lib.isCursorDefinition(cursor)):
                sort = "type" if kind in TYPES else "value"
                yield Placed((sort, scope + name), _extent(lib, cursor))


def _extent(lib: LibClang, cursor: Cursor) -> Extent:
    extent = lib.getCursorExtent(cursor)
    file, _, start = lib.place(lib.getRangeStart(extent))
    _, _, end = lib.place(lib.getRangeEnd(extent))
    unnamed = cursor.kind == kinds.TYPEDEF and any(
        each.kind in (*kinds.RECORDS, kinds.ENUM) and lib.Cursor_isAnonymous(each) for each in lib.children(cursor)
    )
    return Extent(lib.text(lib.getFileName(file)) if file else "", start, end, unnamed)


TAKEN_AWAY = "#error this header was taken away\n"
SNIPPET = {"c": "/abistore/declared.c", "c++": "/abistore/declared.cpp"}


def edited_headers(given: GivenHeaders, files: Sequence[EditedHeader]) -> GivenHeaders:
    """The headers with those that an edit adds, and without those that it removes."""
    gone = {each.path for each in files if each.text is None}
    known = {header.path for header in given.headers}
    added = [
        GivenHeader(name, each.path, len(each.text))
        for each in files
        if each.text is not None and each.path not in known and (name := given.name(str(each.path)))
    ]
    headers = [*(header for header in given.headers if header.path not in gone), *added]
    return replace(given, headers=tuple(sorted(headers, key=lambda header: (header.name, header.path))))


def memory(files: Sequence[EditedHeader]) -> Mapping[str, str]:
    """The texts that are read in place of files, by path."""
    return {str(each.path): TAKEN_AWAY if each.text is None else each.text for each in files}


def with_declarations(parser: HeaderParser, parsed: ParsedHeaders, edits: HeaderEdits) -> tuple[EditedHeader, ...]:
    """The edited files, with declarations in place of those of the same name.

    New declarations follow those of the last header. Raises :class:`HeaderError` where the text declares nothing.
    """
    texts = memory(edits.files)
    language = parsed.reading.language
    arguments = parser.invocation.arguments(parsed.reading)
    snippet = clang.parsed(SNIPPET[language], edits.declarations, arguments, texts)
    if snippet is None:
        raise HeaderError("the declaration cannot be parsed", "write it as in a header")

    def read(file: str) -> str:
        return texts.get(file) or _text(Path(file))

    found = dict(replaced((each.unit for each in parsed.units), snippet, edits.declarations, read, parser.public))
    if not found:
        raise HeaderError("the text declares nothing", "write a declaration, as 'struct point { int x, y; };'")
    new = found.pop("", "")
    if new:
        last = str(parser.given.headers[-1].path)
        guarded = f"#ifndef ABISTORE_DECLARED\n#define ABISTORE_DECLARED\n{new}\n#endif\n"
        found[last] = f"{found.get(last) or read(last)}\n{guarded}"
    return tuple(_joined(edits.files, found))


def _joined(files: Sequence[EditedHeader], texts: Mapping[str, str]) -> Iterator[EditedHeader]:
    """The edited files, each once; ``texts`` win."""
    yield from (each for each in files if str(each.path) not in texts)
    yield from (EditedHeader(Path(path), text) for path, text in sorted(texts.items()))


def _text(path: Path) -> str:
    with os.fdopen(open_file(path), "rb") as file:
        return file.read().decode(errors="replace")
