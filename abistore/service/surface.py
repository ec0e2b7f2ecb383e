"""The public surface of a library as text for review: written, and compared with a file in the sources."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.errors import InputError
from abistore.extract.files import InputFile
from abistore.extract.types import is_foreign, is_runtime
from abistore.files import open_file
from abistore.limits import limits_for
from abistore.model.declarations import EXPORTS, TYPES, Argument, Declared, Name
from abistore.model.layout import Layouts
from abistore.model.names.qualified import demangle, entity
from abistore.model.names.spelling import declaration, spelled_out
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Foreign, Function, Opaque, Record, Symbol, Variable
from abistore.model.snapshot import Evidence, Snapshot, Variants, declared_as, symbols_of
from abistore.model.structure import without_cycle_collection
from abistore.model.words import in_line, spelled
from abistore.service.database import Database
from abistore.service.declarations import declared_exports
from abistore.service.snapshots import Selection, is_path, is_reference, operands

LONGEST_FILE: Final = 64 << 20
LONGEST_LINE: Final = 1 << 16
CONTEXT: Final = 3
MOST: Final = 20_000_000
"""Comparing takes lines times lines; above this, the whole text counts as replaced."""

Line: TypeAlias = tuple[tuple[str, str], str]
"""By what a declaration is sorted, and its text."""


class Surface(msgspec.Struct, frozen=True):
    """The public surface of a library in C or C++: the same surface gives the same text.

    ``of`` is the release, or the file, that was read. No version, path or time is in the text.
    """

    library: str
    of: str
    text: str


class SurfaceCheck(msgspec.Struct, frozen=True):
    """Whether a reviewed ``file`` has the surface of a build: the unified ``difference``, and how to ``refresh`` it."""

    file: str
    state: Literal["same", "differs", "missing"]
    difference: tuple[str, ...] = ()
    refresh: str = ""


def surface(operand: str | Path, *, database: Database = None, selection: Selection | None = None) -> Surface:
    """The surface of a file, a stored release, or the latest release of a library.

    Raises :class:`InputError` or :class:`SnapshotNotFound`.
    """
    with operands(database, selection or Selection()) as reader:
        stored = is_path(operand) or is_reference(operand)
        found = reader.read(operand if stored else f"{operand}@latest")
    snapshot = found.snapshot
    with limits_for(snapshot.weight, f"writing the surface of {snapshot.label}"):
        return Surface(snapshot.library, found.release.reference if found.release else str(operand), written(snapshot))


def check_surface(
    operand: str | Path, file: str | Path, *, database: Database = None, selection: Selection | None = None
) -> SurfaceCheck:
    """Compare the surface of a build with a file that was reviewed.

    Raises what :func:`surface` does, and :class:`InputError` if the file cannot be read.
    """
    found = surface(operand, database=database, selection=selection)
    refresh = shlex.join(
        ["abistore", "export", str(operand), *_headers(selection), "--format=surface", "-o", str(file)]
    )
    known = _reviewed(Path(file))
    if known is None:
        return SurfaceCheck(str(file), "missing", refresh=refresh)
    difference = tuple(_difference(known.splitlines(), found.text.splitlines(), str(file), str(operand)))
    return SurfaceCheck(str(file), "differs" if difference else "same", difference, refresh if difference else "")


def _headers(selection: Selection | None) -> Iterator[str]:
    """The options that name headers, where no configuration of the project does."""
    headers = selection.options.headers if selection else None
    if headers is not None and not headers.configured:
        yield from (f"--header={each}" for each in headers.headers)


def _reviewed(path: Path) -> str | None:
    """The text of a file, whatever the line ends of its checkout; ``None`` where there is none."""
    try:
        descriptor = open_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}", "check the path of --surface") from error
    with InputFile(path, descriptor) as file:
        file.check_size(LONGEST_FILE)
        return file.read_at(0, file.size).decode("utf-8", "backslashreplace").replace("\r\n", "\n")


def _difference(old: list[str], new: list[str], file: str, build: str) -> Iterator[str]:
    """A unified difference, as ``diff -u`` writes it."""
    if len(old) * len(new) > MOST and old != new:
        yield from (f"--- {file}", f"+++ {build}", f"@@ -1,{len(old)} +1,{len(new)} @@")
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
    else:
        yield from difflib.unified_diff(old, new, file, build, n=CONTEXT, lineterm="")


# --- the text -----------------------------------------------------------------------------------------------------


def written(snapshot: Snapshot) -> str:
    """The text: what it rests on, then each sort of declaration, sorted by name."""
    with without_cycle_collection():
        parts = ["\n".join(_head(snapshot)), *_sections(_SurfaceText(snapshot))]
    return spelled("\n\n".join(parts)) + "\n"


def _head(snapshot: Snapshot) -> Iterator[str]:
    facts = snapshot.facts
    yield f"// Public surface of {in_line(snapshot.library)}, written by `abistore export --format surface`."
    yield f"// SONAME: {in_line(facts.name) if facts and facts.name else 'none'}"
    yield f"// Target: {snapshot.target}"
    yield f"// Types: {_seen(snapshot.evidence_of('layout'), 'debug information')}"
    yield f"// Declarations: {_seen(snapshot.evidence_of('source'), 'public headers')}"
    if "layout" in snapshot.entries and not snapshot.evidence_of("source").is_whole:
        yield "// All types that exports reach are listed: only headers show which of them are public."


def _seen(evidence: Evidence, source: str) -> str:
    """What was seen, without a detail that depends on the machine."""
    if evidence.state == "missing":
        return "not given" if evidence.reason == "not-requested" else f"none ({evidence.reason or 'not read'})"
    found = evidence.source if evidence.source in ("BTF", "CTF") else source
    if evidence.state == "full":
        return f"from {found}"
    return f"from {found}, in part ({evidence.reason or 'partial-evidence'})"


def _sections(text: _SurfaceText) -> Iterator[str]:
    """Each sort of declaration that the surface has."""
    sorts: Mapping[str, Callable[[], Iterable[Line]]] = {
        "Symbol versions": text.versions,
        "Constants and macros": text.constants,
        "Enumerations": lambda: text.types("enum"),
        "Other names of types": lambda: text.types("alias"),
        "Structs, classes and unions": lambda: text.types("record"),
        "Variables": lambda: text.exports("variable"),
        "Functions": lambda: text.exports("function"),
        "Declared in headers, not exported": text.unexported,
        "Exported, declared in no header": text.undeclared,
    }
    for title, lines in sorts.items():
        if found := sorted(set(lines())):
            joint = "\n\n" if any("\n" in line for _, line in found) else "\n"
            yield f"// --- {title} ---\n\n{joint.join(line for _, line in found)}"


class _SurfaceText:
    """The declarations of one snapshot as lines."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._symbols = snapshot.entries.get("symbol", {})
        self._source = snapshot.entries.get("source", {})
        self._layouts = Layouts(snapshot)
        self._reach = Reach(snapshot)
        self._runtime = is_runtime(snapshot.facts.name if snapshot.facts else None)
        found = declared_exports(snapshot)
        self._undeclared = frozenset(found.undeclared) if found else frozenset[str]()

    def versions(self) -> Iterator[Line]:
        """The version definitions of ELF."""
        facts = self._snapshot.facts
        for version in facts.on_elf.version_definitions if facts else ():
            yield (version, ""), f"// {in_line(version)}"

    def constants(self) -> Iterator[Line]:
        """Macros, and constants that compilers put into programs."""
        for name, shapes in self._source.items():
            if name.kind == "variable" and name not in self._symbols:
                for shape in shapes:
                    if isinstance(shape, Declared) and {"macro", "constant"} & set(shape.traits):
                        yield (name.spelling, ""), self._constant(name, shape, shapes)

    def _constant(self, name: Name, shape: Declared, shapes: Variants) -> str:
        if "macro" not in shape.traits:
            return "\n".join(self._texts(name, shapes))
        replaced = shape.replacement
        if replaced is None:
            return f"#define {name.spelling} {shape.value or ''}".rstrip()
        count = replaced.parameters
        listed = [] if count is None else [*(f"p{number}" for number in range(1, count + 1))]
        inside = "" if count is None else f"({', '.join([*listed, *(['...'] if replaced.variadic else [])])})"
        return f"#define {name.spelling}{inside}" + (f"  // tokens {replaced.digest}" if replaced.digest else "")

    def types(self, kind: Literal["record", "enum", "alias"]) -> Iterator[Line]:
        """The types of one kind."""
        for name in self._public_types:
            if name.kind == kind:
                for text in self._type(name):
                    yield (name.spelling, text), text

    @property
    def _public_types(self) -> Iterator[Name]:
        """The types that headers show, and those that programs hold; without headers all that exports reach."""
        layout = [name for name in self._snapshot.entries.get("layout", {}) if name.kind in TYPES]
        if not self._snapshot.evidence_of("source").is_whole:
            yield from dict.fromkeys((*layout, *(name for name in self._source if name.kind in TYPES)))
            return
        yield from (name for name in self._source if name.kind in TYPES)
        yield from (name for name in layout if name not in self._source and self._is_held(name))

    def _type(self, name: Name) -> Iterator[str]:
        source = self._source.get(name, ())
        only_named = bool(source) and all(isinstance(each, Opaque | Declared) for each in source)
        shapes = source if only_named and not self._is_held(name) else self._snapshot.described(name)
        for shape in (*shapes, *(each for each in source if isinstance(each, Declared))):
            if not isinstance(shape, Foreign | Declared) or (isinstance(shape, Declared) and shape.template):
                yield declaration(name, _steady(shape), self._snapshot, self._layouts)

    def _is_held(self, name: Name) -> bool:
        """Whether programs may hold objects of a type, so that its size counts."""
        return bool(self._reach.exports_reaching(name, by_value=True))

    def exports(self, kind: Literal["function", "variable"]) -> Iterator[Line]:
        """The exports of one kind that headers declare, or that nothing says are private."""
        symbols: dict[tuple[str, str], list[str]] = {}
        for name, shapes in self._exported:
            if name.kind == kind and name.spelling not in self._undeclared:
                found = symbols_of(shapes)
                for symbol in found:
                    text = self._declaration(declared_as(name, found, symbol), name)
                    key = _display(name, self._snapshot), text or _undescribed(name, symbol)
                    symbols.setdefault(key, []).append(_told(name, symbol, text) if text else "")
        for (display, text), told in symbols.items():
            comment = ", ".join(sorted(filter(None, told)))
            yield (display, text), in_line(f"{text}{f'  // {comment}' if comment else ''}", LONGEST_LINE)

    @property
    def _exported(self) -> Iterator[tuple[Name, Variants]]:
        """Functions and data, but copies of the standard library's that compilers leave in any library."""
        for name, shapes in self._symbols.items():
            if name.kind not in EXPORTS:
                continue
            is_copy = all(symbol.weak for symbol in symbols_of(shapes))
            if not (is_copy and is_foreign(entity(demangle(name.spelling)), self._runtime)):
                yield name, shapes

    def _declaration(self, declared: Name, export: Name) -> str:
        """What headers say of an export, else debug information; empty where nothing does."""
        source = self._source.get(export, ())
        typed = any(isinstance(each, Function | Variable) for each in source)
        shapes = source if typed else self._snapshot.variants("layout", declared)
        return " ".join(self._texts(export, shapes))

    def _texts(self, name: Name, shapes: Variants) -> Iterator[str]:
        """Each shape with its types in the words of headers, such as a default argument or a value."""
        said = next((each for each in shapes if isinstance(each, Declared)), None)
        for shape in shapes:
            if isinstance(shape, Function) and said is not None:
                missing = len(shape.parameters) - len(said.parameters)
                padded = msgspec.structs.replace(said, parameters=(*said.parameters, *([Argument()] * missing)))
                yield from spelled_out(name, (shape, padded), self._snapshot, self._layouts)
            elif isinstance(shape, Variable) and said is not None and said.value is not None:
                yield f"{declaration(name, shape, self._snapshot).removesuffix(';')} = {said.value};"
            elif isinstance(shape, Variable) and said is not None and "template" in said.traits:
                yield declaration(name, shape, self._snapshot).removeprefix("static ")  # a member of each instance
            elif not isinstance(shape, Declared) or len(shapes) == 1:
                yield declaration(name, shape, self._snapshot, self._layouts)

    def unexported(self) -> Iterator[Line]:
        """Inline functions, templates, and declarations without an export."""
        for name, shapes in self._source.items():
            if name.kind not in EXPORTS or name in self._symbols:
                continue
            if any(isinstance(each, Declared) and {"macro", "constant"} & set(each.traits) for each in shapes):
                continue
            for text in self._texts(name, shapes):
                yield (_display(name, self._snapshot), text), text

    def undeclared(self) -> Iterator[Line]:
        """Exports that no public header declares, where headers were read."""
        for name, shapes in self._exported:
            if name.spelling in self._undeclared:
                for symbol in symbols_of(shapes):
                    yield (name.spelling, symbol.version or ""), f"// {declaration(name, symbol)}"


def _undescribed(name: Name, symbol: Symbol) -> str:
    """An export that nothing describes, as the symbol table has it."""
    spelling, told = demangle(name.spelling), declaration(name, symbol)
    return f"// {told}" if spelling == name.spelling else f"// {spelling}: {told}"


def _told(name: Name, symbol: Symbol, text: str) -> str:
    """What the symbol table says of an export; nothing where its declaration says it all."""
    told = declaration(name, symbol)
    return "" if told == f"global function {name.spelling}" and f"{name.spelling}(" in text else told


def _display(name: Name, snapshot: Snapshot) -> str:
    for facet in ("layout", "source"):
        for shape in snapshot.entries.get(facet, {}).get(name, ()):
            if isinstance(shape, Function | Variable):
                return shape.display
    return demangle(name.spelling)


def _steady(shape: AnyShape) -> AnyShape:
    """A record without what only some readings of debug information note."""
    return msgspec.structs.replace(shape, handle=False) if isinstance(shape, Record) else shape
