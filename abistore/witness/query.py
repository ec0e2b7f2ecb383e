"""What is asked about one finding: its declaration, the language of its users, the headers that they include."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from abistore.extract.headers.modes import ALONE, SWITCHES
from abistore.model.declarations import SELF, Declared, Name
from abistore.model.names.qualified import class_behind, demangle, entity, last_component, scope
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import AnyShape, Enum, Function, Library, Named, Primitive, Record, TypeRef, Variable
from abistore.model.snapshot import HeadersRead, Snapshot
from abistore.report.model import ReportedFinding, Witness, WitnessSort
from abistore.witness.compilers import Language, compiler
from abistore.witness.declarations import SnapshotText, Unspellable
from abistore.witness.facts import OWN, Fact, Idiom, facts
from abistore.witness.uses import UserCode, symbols_use, uses


class ReleaseSources(NamedTuple):
    """One side: its snapshot, its file where it is at hand, and its headers where they are.

    ``headers`` has the text of each by the name that programs include it by; ``flags`` are the compiler's.
    """

    snapshot: Snapshot
    file: Path | None = None
    headers: Mapping[str, str] = {}
    flags: tuple[str, ...] = ()

    @property
    def soname(self) -> str:
        """The name by which programs load the library that are linked with this side."""
        found = self.snapshot.facts
        own = found.name if isinstance(found, Library) and found.name else ""
        return own or (self.file.name if self.file else f"{self.snapshot.library}.so")


class Attempt(NamedTuple):
    """One program that was tried: whether it shows the finding, behaves the same, or was not made, and why."""

    sort: WitnessSort
    state: Literal["shown", "same", "written", "none"]
    reason: str = ""
    program: str = ""
    files: tuple[tuple[str, str], ...] = ()
    lines: tuple[int, ...] = ()
    commands: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


BOTH: Final = ("old", "new")

FEW: Final = 8
"""So many of the exports that a finding affects are asked for."""

STRICT: Final = (
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
)
"""Errors of C that older compilers report as warnings."""

_BYTES: Final = re.compile(r"\d+ bytes?")
_OFFSET: Final = re.compile(r"offset \d+")
_OF_TYPES: Final = re.compile(r" has type |\(\) returns ")
"""Facts that ask each side about a type of the old one."""

_VERSION: Final = re.compile(r"version (\S+)")


class Query:
    """A finding, and how programs about it are written.

    ``name`` is the declaration that these name, ``export`` what the linker does: a vtable is asked about by its class.
    """

    def __init__(self, finding: ReportedFinding, old: ReleaseSources, new: ReleaseSources) -> None:
        self.finding = finding
        self._sides = {"old": old, "new": new}
        self.export = Name(finding.subject, finding.symbol)
        self.name = _declaration(self.export, old.snapshot, new.snapshot)
        self.mode = _mode(finding, old.snapshot, new.snapshot)
        self.c = self.mode == "C" or (self.mode != "C++" and _is_c(old, self.name))
        self.language: Language = "c" if self.c else "c++"
        self.old, self.new = (_shape(each.snapshot, self.name) for each in (old, new))
        self.target = old.snapshot.target
        self._texts: dict[str, str] = {}

    @property
    def strict(self) -> tuple[str, ...]:
        """Flags by which a compiler of C refuses what the language forbids."""
        return STRICT if self.c else ()

    # what is asked

    def facts(self) -> list[Fact]:
        """What programs have compiled in of the declaration, as far as programs of both releases may."""
        of = {side: list(self._facts(side)) for side in BOTH}
        known = {each.label for each in of["new"]}
        if self.new is None and not self._sides["new"].headers:
            return []
        if self.new is None or isinstance(self.new, Declared):
            return list(dict.fromkeys(of["old"]))
        kept = [each for each in of["old"] if each.label in known or _OF_TYPES.search(each.label)]
        return list(dict.fromkeys(kept))

    def _facts(self, side: str) -> Iterator[Fact]:
        shape = _shape(self._sides[side].snapshot, self.name)
        return facts(self.name, self.finding.part, shape, self._idiom(side)) if shape else iter(())

    def uses(self) -> Iterator[UserCode]:
        """Code that names the declaration, or the part of it that the finding is about."""
        part = "" if self.mode else self.finding.part
        if self.name == SELF:
            yield from self._of_library(part)
            return
        snapshot = self._sides["old"].snapshot
        yield from uses(self.name, part, _declared(snapshot, self.name), self._idiom("old"))

    def references(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Codes that ask for the exports of the finding, with the headers that they include; the last one compiles."""
        version = _VERSION.fullmatch(self.finding.part)
        if version and self.export != SELF:
            yield symbols_use((self.export.spelling,), version[1]), ()
        elif self.export.kind in ("function", "variable"):
            with suppress(Unspellable):
                self.files_of("old")
                for each in self.uses() if isinstance(self.old, Function | Variable) else ():
                    yield each.code, self.includes("old", each)
            yield symbols_use((self.export.spelling,)), ()
        else:
            yield symbols_use(self.finding.affected[:FEW]), ()

    def symbols(self) -> tuple[str, ...]:
        """The exports that such code asks for."""
        if self.export.kind not in ("function", "variable"):
            return self.finding.affected[:FEW]
        is_export = self.export in self._sides["old"].snapshot.entries.get("symbol", {})
        return (self.export.spelling,) if is_export else ()

    def is_as_recorded(self, side: str, found: Mapping[str, object]) -> bool:
        """Whether what the snapshot spells is laid out as the library's own declarations were."""
        shape = _shape(self._sides[side].snapshot, self.name)
        if not isinstance(shape, Record) or self._sides[side].headers:
            return True
        return found.get(f"sizeof({self._spell('old', Named(self.name))})", shape.size) == shape.size

    def is_claim(self, sort: WitnessSort) -> bool:
        """Whether a program of this sort tests just what the finding claims, so that another result refutes it."""
        finding = self.finding
        if finding.new_value is None and finding.old_value is not None:
            if finding.facet == "symbol" and finding.subject in ("function", "variable"):
                return sort == "link" and self.export not in self._sides["new"].snapshot.entries.get("symbol", {})
            return sort == "source" and self._is_removed()
        values = finding.old_value or "", finding.new_value or ""
        if all(map(_BYTES.fullmatch, values)) or all(map(_OFFSET.fullmatch, values)):
            return sort == "layout"
        return sort == "layout" and finding.subject == "enum" and bool(finding.part)

    def _is_removed(self) -> bool:
        """Whether the declaration, or the field or enumerator of it, is no longer there."""
        part = self.finding.part
        if not part:
            return self.new is None
        return part in _members(self.old) and self.new is not None and part not in _members(self.new)

    # how it is written

    def _idiom(self, side: str) -> Idiom:
        snapshot = self._sides[side].snapshot
        return Idiom(partial(_shape, snapshot), partial(_declared, snapshot), partial(self._spell, "old"), self.c)

    def _spell(self, side: str, type: TypeRef, name: str = "") -> str:
        release = self._sides[side]
        return SnapshotText(release.snapshot, c=self.c, has_tag=self._has_tag).type(type, name)

    def _has_tag(self, name: Name) -> bool:
        """Whether a type of C is declared with a tag, and not by a ``typedef`` alone."""
        headers = self._sides["old"].headers
        tagged = re.compile(rf"\b(?:struct|union|enum)\s+{re.escape(name.spelling)}\b")
        return not headers or any(tagged.search(text) for text in headers.values())

    def _of_library(self, part: str) -> Iterator[UserCode]:
        """Code about headers and namespaces."""
        old, new = self._sides["old"], self._sides["new"]
        if self.mode == ALONE:
            yield from (UserCode("", includes=(each,)) for each in old.headers if each in new.headers)
        elif part in old.headers:
            yield from self._of_header(part)
        else:
            around = part.removeprefix("namespace ").partition(" -> ")[0]
            yield from self._of_namespace(around) if re.fullmatch(r"[\w:]+", around) else ()

    def _of_header(self, header: str) -> Iterator[UserCode]:
        if header not in self._sides["new"].headers:
            yield UserCode("", includes=(header,))
        old = self._sides["old"].snapshot
        for name in _declared_in(old, self.finding.old_value or ""):
            for each in uses(name, "", _declared(old, name), self._idiom("old")):
                yield each._replace(includes=(header,), names=False)

    def _of_namespace(self, around: str) -> Iterator[UserCode]:
        old = self._sides["old"].snapshot
        outer = scope(around)
        if around and outer:
            for name in old.entries.get("source", {}):
                if name.kind == "record" and scope(name.spelling) == around:
                    yield UserCode(f"void {OWN}({outer}::{last_component(name.spelling)} *object) {{ (void)object; }}")
        if around:
            yield UserCode(f"namespace {OWN} = {around};")

    def includes(self, side: str, use: UserCode | None = None) -> tuple[str, ...]:
        """The headers that a program includes: those that have the declaration's name, else all."""
        headers = self._sides[side].headers
        if use is not None and use.includes is not None:
            return use.includes
        if not headers:
            return ("declarations.h",) if self.name != SELF else ()
        word = re.compile(rf"\b{re.escape(_word(self.name))}\b")
        return tuple(each for each, text in headers.items() if word.search(text)) or tuple(headers)

    def files_of(self, side: str) -> tuple[tuple[str, str], ...]:
        """The files that one side's program needs beside it: what the snapshot spells, where no headers were given."""
        release = self._sides[side]
        if release.headers or self.name == SELF:
            return ()
        if side not in self._texts:
            self._texts[side] = self._spelled(release.snapshot)
        return (("declarations.h", self._texts[side]),)

    def _spelled(self, snapshot: Snapshot) -> str:
        name = self.name
        if _shape(snapshot, name) is None and name.kind in ("function", "variable"):
            name = Name("variable" if name.kind == "function" else "function", name.spelling)
        shape = _shape(snapshot, name)
        text = SnapshotText(snapshot, c=self.c)
        match shape:
            case Function(method=method) if method is not None:
                types = [shape.result, *shape.parameters]
                needed = [each.name for each in map(_bare, types) if each is not None]
                return text.of([*needed, method.owner], [(name, shape)])
            case Variable(owner=owner) if owner is not None:
                return text.of([owner], [(name, shape)])
            case Record() if not self.c:
                return text.of([name], _allocating(snapshot, name))
            case None:
                return ""
            case _:
                return text.of([name])

    def files(self) -> tuple[tuple[str, str], ...]:
        """The files of both sides, by the names that the commands use."""
        return tuple((f"{side}/{name}", text) for side in BOTH for name, text in self.files_of(side))

    def flags(self, side: str) -> tuple[str, ...]:
        """The compiler's flags for one side's headers."""
        return (*self._sides[side].flags, *self._mode_flags(side))

    def _mode_flags(self, side: str) -> tuple[str, ...]:
        given = [*_long_double(self._sides[side].snapshot)]
        for each in SWITCHES:
            if self.mode == each.name:
                given += each.arguments
            elif self.mode == f"without {each.name}":
                given += [f"-U{macro}" for macro in sorted(each.macros)]
        return tuple(given)

    def flags_shown(self, side: str) -> str:
        """The same as people type it."""
        standard = [each for each in self._sides[side].flags if not each.startswith(("-I", "-idirafter"))]
        return "".join(f"{each} " for each in (*standard, *self._mode_flags(side), f"-I{side}"))

    def soname(self, side: str) -> str:
        """The name by which programs load the library that are linked with one side."""
        return self._sides[side].soname

    def answered(self, attempt: Attempt, state: Literal["shown", "refuted", "written", "none"]) -> Witness:
        """The attempt as the witness of the finding."""
        finding = self.finding
        found = compiler(self.language, self.target) if attempt.before else None
        return Witness(
            finding=finding.id,
            kind=finding.kind,
            display=finding.display,
            part=finding.part,
            state=state,
            sort=None if state == "none" else attempt.sort,
            reason=attempt.reason,
            language=self.language,
            declarations="" if state == "none" else "headers" if self._sides["old"].headers else "snapshot",
            program=attempt.program,
            files=attempt.files,
            lines=attempt.lines,
            commands=attempt.commands,
            before=attempt.before,
            after=attempt.after,
            compiler=found.version if found else "",
        )


def _declaration(export: Name, old: Snapshot, new: Snapshot) -> Name:
    """What sources have of an export: the class of a vtable, and of a member that is new."""
    behind = Name("record", class_behind(export.spelling)) if is_mangled(export.spelling) else None
    if behind and behind.spelling and export.kind == "variable" and old.described(behind):
        return behind
    shape = _shape(new, export)
    if export.kind == "function" and isinstance(shape, Function) and shape.method and _shape(old, export) is None:
        return shape.method.owner
    return export


def _mode(finding: ReportedFinding, old: Snapshot, new: Snapshot) -> str:
    """The mode of programs that a finding is about; empty for the ordinary one."""
    for snapshot in (old, new):
        headers = snapshot.provenance.headers
        if isinstance(headers, HeadersRead) and any(each.name == finding.part for each in headers.modes):
            return finding.part
    return ""


def _is_c(release: ReleaseSources, name: Name) -> bool:
    snapshot = release.snapshot
    headers = snapshot.provenance.headers
    if release.headers and isinstance(headers, HeadersRead) and headers.language:
        return headers.language == "c"
    if snapshot.provenance.languages:
        return not any("+" in each for each in snapshot.provenance.languages)
    return (
        not any(is_mangled(each.spelling) for each in snapshot.entries.get("symbol", {})) and "::" not in name.spelling
    )


def _members(shape: AnyShape | None) -> frozenset[str]:
    match shape:
        case Record():
            return frozenset(each.name for each in shape.fields)
        case Enum():
            return frozenset(each.name for each in shape.enumerators)
        case _:
            return frozenset()


def _allocating(snapshot: Snapshot, owner: Name) -> list[tuple[Name, Function]]:
    """The ``operator new`` and ``operator delete`` of a class."""
    return [
        (name, shape)
        for name, shapes in sorted(snapshot.entries.get("layout", {}).items())
        for shape in shapes
        if isinstance(shape, Function) and shape.method is not None and shape.method.owner == owner
        if re.search(r"::operator (?:new|delete)", shape.display)
    ]


def _declared_in(snapshot: Snapshot, header: str) -> Iterator[Name]:
    for name, location in sorted(snapshot.locations.items()):
        if location.file == header or location.file.endswith(f"/{header}"):
            yield name


def _long_double(snapshot: Snapshot) -> Iterator[str]:
    """The flag of a library whose ``long double`` has the size of a ``double``, where that is not the platform's."""
    if snapshot.target.machine not in ("x86_64", "i386"):
        return
    for shapes in snapshot.entries.get("layout", {}).values():
        for shape in shapes:
            if isinstance(shape, Function) and any(
                isinstance(each, Primitive) and each.spelling == "long double" and each.size == 8
                for each in (shape.result, *shape.parameters)
            ):
                yield "-mlong-double-64"
                return


def _bare(type: TypeRef) -> Named | None:
    while hasattr(type, "target"):
        type = type.target
    return type if isinstance(type, Named) else None


def _shape(snapshot: Snapshot, name: Name) -> AnyShape | None:
    """What a name is; a function that debug information calls by its inner name has that of its export."""
    found = next(iter((*snapshot.described(name), *snapshot.variants("source", name))), None)
    if not isinstance(found, Function) or found.method is not None or snapshot.variants("source", name):
        return found
    is_plain = not is_mangled(name.spelling) and "::" not in found.display
    return replace(found, display=name.spelling) if is_plain else found


def _declared(snapshot: Snapshot, name: Name) -> Declared | None:
    return next((each for each in snapshot.variants("source", name) if isinstance(each, Declared)), None)


def _word(name: Name) -> str:
    """What sources call a declaration: its name without scope and template arguments."""
    plain = demangle(name.spelling) if is_mangled(name.spelling) else name.spelling
    return last_component(entity(plain).partition("<")[0]).lstrip("~")
