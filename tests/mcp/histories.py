"""A library of eight releases whose declarations are long enough to meet every bound."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from abistore.interface import BaselinePlan, ExtractOptions, HeaderOptions, IngestPlan, ingest, open_store, set_baseline
from tests.build import build_library

LIBRARY = "libwide"
FIELDS = 70
FUNCTIONS = 60
VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4", "2.0", "2.1", "2.2")
"""Each adds a field in the middle of the struct that all functions take; 2.0 removes functions, too."""


def header(release: int) -> str:
    """The header of the release with this number; one more is that of a build that nobody has stored."""
    fields = [f"    unsigned int field_number_{number};" for number in range(FIELDS)]
    for each in range(1, release + 1):
        fields.insert(10 * each, f"    void *added_by_release_{each};")
    kept = range(20 if release >= VERSIONS.index("2.0") else 0, FUNCTIONS)
    declared = [f"int wide_function_{number}(struct wide_loop *loop, int how);" for number in kept]
    return "\n".join(("struct wide_loop {", *fields, "};", *declared, ""))


def build(release: int, folder: Path) -> tuple[Path, Path]:
    """The library of a release, and its header in the folder."""
    text = header(release)
    declared = [line for line in text.splitlines() if line.startswith("int ")]
    bodies = [line.replace(";", " { return loop ? how : 0; }") for line in declared]
    source = "\n".join((text, *bodies))
    library = build_library(source, soname="libwide.so.1", name=f"{LIBRARY}.so")
    place = folder / f"release-{release}"
    place.mkdir()
    named = place / "wide.h"
    named.write_text(text)
    return Path(shutil.copy(library, place)), named


def store(folder: Path, versions: Sequence[str] = VERSIONS) -> Path:
    """A database of the releases, with the first as the baseline. Only ``ingest`` has written to it."""
    database = folder / "wide.db"
    with open_store(database, create=True) as opened:
        for number, version in enumerate(versions):
            library, named = build(number, folder)
            options = ExtractOptions(headers=HeaderOptions.given([str(named)]))
            (done,) = ingest(library, IngestPlan(version=version, options=options), database=opened)
            assert done.status == "stored", done.error
        set_baseline(f"{LIBRARY}@{versions[0]}", BaselinePlan(reason="the first"), database=opened)
    return database
