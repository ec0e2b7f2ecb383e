"""Public headers as text, read by the real reader in this process; each text once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from abistore.extract.headers.reader import work
from abistore.extract.reader import FacetReading, HeaderOptions, HeaderRequest, Language, with_headers
from abistore.model.declarations import NOT_EXPORTED, SELF, Declared, Name
from abistore.model.shapes import Function, Library, Symbol
from abistore.model.snapshot import Evidence, Snapshot, Target, Variants

TARGET = Target("elf", "x86_64", 64, "little", "sysv")


Texts: TypeAlias = tuple[tuple[str, str], ...]
"""Headers by their names."""


@cache
def read_texts(files: Texts, language: Language = "c++", standard: str = "", included: Texts = ()) -> FacetReading:
    """What headers declare, given by their names and texts; ``included`` are no public ones, and lie elsewhere."""
    with tempfile.TemporaryDirectory(prefix="written-headers-") as place:
        folder, others = Path(place, "public"), Path(place, "others")
        _write(files, folder)
        _write(included, others)
        options = HeaderOptions(
            (folder,), language=language, standard=standard or None, include_dirs=(others,) if included else ()
        )
        found = work(HeaderRequest(options, TARGET, False, False, None, 60, 2_000_000_000, 60.0))
    return FacetReading(found.evidence, dict(found.entries), dict(found.locations), headers=found.read)


def _write(files: Texts, folder: Path) -> None:
    for name, text in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def beside(
    binary: Snapshot,
    files: Mapping[str, str],
    language: Language = "c++",
    standard: str = "",
    *,
    included: Mapping[str, str] = MappingProxyType({}),
) -> Snapshot:
    """A library with what its headers declare."""
    texts, others = (tuple(sorted(each.items())) for each in (files, included))
    return with_headers(binary, read_texts(texts, language, standard, others))


def implementing(files: Mapping[str, str], language: Language = "c++", standard: str = "") -> Snapshot:
    """A library without debug information that exports whatever of its headers' declarations needs an export."""
    reading = read_texts(tuple(sorted(files.items())), language, standard)
    symbols: dict[Name, Variants] = {SELF: (Library("shared"),)}
    for name, shapes in reading.entries.items():
        if needs_export(name, shapes):
            symbols[name] = (Symbol("function") if name.kind == "function" else Symbol("data", size=4),)
    evidence = Evidence("symbol", "full"), Evidence("layout", "missing", "nothing-to-describe")
    return with_headers(Snapshot("libcase", None, TARGET, {"symbol": symbols}, evidence), reading)


def needs_export(name: Name, shapes: Variants) -> bool:
    """Whether consumers can use a declaration only where the library exports it."""
    methods = [shape.method for shape in shapes if isinstance(shape, Function) and shape.method is not None]
    if name.kind not in ("function", "variable") or any(each.deleted or each.virtual == "pure" for each in methods):
        return False
    traits = {trait for shape in shapes if isinstance(shape, Declared) for trait in shape.traits}
    return any(isinstance(shape, Declared) for shape in shapes) and traits.isdisjoint(NOT_EXPORTED - {"friend"})
