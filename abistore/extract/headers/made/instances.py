"""Instances of templates that headers only point to: parsed again, the headers use them whole as programs do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from abistore.extract.headers import clang
from abistore.extract.headers.made.behind import FILE, BehindUnit
from abistore.extract.headers.parsing import HeaderParser
from abistore.extract.headers.umbrella import UMBRELLA
from abistore.extract.headers.walk.clang.cursors import PLACED, libclang
from abistore.extract.headers.walk.declared import Instantiations, Walked, made_instances
from abistore.extract.headers.walk.faulty import Faults
from abistore.model.declared import Declared
from abistore.model.digest import sort_variants
from abistore.model.names import Name
from abistore.model.shapes import Opaque, Record
from abistore.model.snapshot import Variants

MOST_INSTANCES: Final = 1000
"""How many are made, by name; the most that headers of real libraries point to are a few dozen."""

MOST_ROUNDS: Final = 3
"""How often the headers are parsed again: what an instance points to or derives from may be one more."""

MARKER: Final = "abistore_made"
TEMPLATE: Final = f"template <class T> struct {MARKER} {{ enum {{ size = sizeof(T) }}; }};\n"
"""Needs its argument whole. No name is checked for access where a template is instantiated by hand."""


def with_instances(behind: BehindUnit, walked: Walked, *, runtime: bool) -> Walked:
    """What a unit declares, with the layouts of instances that nothing in it uses whole.

    One that cannot be made is left out alone; ``unmade`` says why.
    """
    asked: dict[Name, str] = {}
    made, unmade = walked, dict[Name, str]()
    for _ in range(MOST_ROUNDS):
        more = {name: spelled for name, spelled in made.unlaid.items() if name not in asked}
        if not _needs(more, asked.keys() - unmade.keys(), walked) or len(asked) >= MOST_INSTANCES:
            break
        asked = dict([*asked.items(), *more.items()][:MOST_INSTANCES])
        made, unmade = _made(behind, asked, walked, runtime=runtime)
        walked = _joined(walked, made)
    return replace(walked, unmade=unmade)


def _needs(more: Mapping[Name, str], asked: Iterable[Name], walked: Walked) -> bool:
    """Whether ``more`` instances have no layout, or tell that of one that was asked for: its bases are among them."""
    needed = [*more, *asked] if more else []
    return not all(_is_laid_out(walked.entries.get(name, ())) for name in needed)


def _made(
    behind: BehindUnit, asked: Mapping[Name, str], known: Walked, *, runtime: bool
) -> tuple[Walked, dict[Name, str]]:
    """What the instances are, and why some cannot be made."""
    uses = "".join(f"template struct {MARKER}< ::{spelled} >;\n" for spelled in asked.values())
    text, parser = behind.read(TEMPLATE + uses), behind.parser
    errors = text.lines_with_errors()
    why = {name: _said(parser, errors[line]) for line, name in enumerate(asked, 2) if line in errors}
    left_out = {line + text.before for line in errors}
    instantiations = Instantiations(left_out, known.entries, Faults(libclang(), behind.unit.unit))
    return made_instances(text.unit, parser, MARKER, instantiations, runtime=runtime), why


def _said(parser: HeaderParser, error: clang.Diagnostic) -> str:
    """An error as it may be told: of a file that is no header, no text."""
    quoted = error.file in (FILE, *UMBRELLA.values()) or parser.may_quote(error.file)
    return PLACED.sub(r"(anonymous \1)", error.message) if quoted else "cannot be made"


def _joined(first: Walked, made: Walked) -> Walked:
    """What the headers declare by themselves, with the layouts of what was made."""
    entries, locations = dict(first.entries), dict(first.locations)
    for name, shapes in made.entries.items():
        if name not in entries:
            entries[name] = shapes
            if name in made.locations:
                locations[name] = made.locations[name]
        elif _is_laid_out(shapes) and not _is_laid_out(entries[name]):
            told = [shape for shape in entries[name] if not isinstance(shape, Opaque)]
            entries[name] = sort_variants([*told, *(shape for shape in shapes if not isinstance(shape, Declared))])
    return replace(
        first,
        entries=entries,
        locations=locations,
        refused=max(first.refused, made.refused),
        padded=first.padded | made.padded,
    )


def _is_laid_out(shapes: Variants) -> bool:
    return any(isinstance(shape, Record) for shape in shapes)
