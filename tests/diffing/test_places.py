"""A header has one path in all places that people are shown."""

from __future__ import annotations

import pytest

from abistore.diffing.side import ShownPlaces
from abistore.model.declarations import Declared, Name
from abistore.model.shapes import Record
from abistore.model.snapshot import Entries, HeadersRead, Location, Provenance, Snapshot, Target

TYPE, OTHER, EXPORT = Name("record", "tally"), Name("record", "hidden"), Name("function", "tally_total")


def placed(
    locations: dict[Name, Location], files: tuple[str, ...] = ("tally.h",), given: tuple[str, ...] = ("include/",)
) -> ShownPlaces:
    shapes = (Record("struct", 4), Declared())
    source = {name: shapes if name != OTHER else shapes[:1] for name in locations if name.kind == "record"}
    entries: Entries = {"layout": {}, "source": source}
    read = Provenance(headers=HeadersRead(files, given))
    target = Target("elf", "x86_64", 64, "little")
    return ShownPlaces(Snapshot("libtally", None, target, entries, provenance=read, locations=locations))


@pytest.mark.parametrize("folder", ["include/", "../include/", "/build/tally/include/"])
def test_an_export_has_the_path_that_types_of_its_header_have(folder: str) -> None:
    places = placed({TYPE: Location(f"{folder}tally.h", 3), EXPORT: Location("tally.h", 7)})
    assert [str(places.of(each)) for each in (TYPE, EXPORT)] == [f"{folder}tally.h:3", f"{folder}tally.h:7"]


def test_a_header_without_types_lies_in_the_folder_of_the_others() -> None:
    places = placed({TYPE: Location("include/t.h", 3), EXPORT: Location("sub/f.h", 7)}, ("t.h", "sub/f.h"))
    assert str(places.of(EXPORT)) == "include/sub/f.h:7"


def test_of_several_folders_none_is_guessed() -> None:
    locations = {TYPE: Location("include/t.h", 3), EXPORT: Location("f.h", 7)}
    assert str(placed(locations, ("t.h", "f.h"), ("include/", "made/")).of(EXPORT)) == "f.h:7"


def test_a_private_header_of_the_same_name_is_another() -> None:
    places = placed({OTHER: Location("src/tally.h", 3), EXPORT: Location("tally.h", 7)})
    assert str(places.of(EXPORT)) == "tally.h:7"


def test_what_no_header_declares_stands_in_its_source() -> None:
    places = placed({TYPE: Location("include/tally.h", 3), EXPORT: Location("src/tally.c", 9)})
    assert str(places.of(EXPORT)) == "src/tally.c:9"


def test_what_stands_nowhere_has_no_place() -> None:
    assert placed({}).of(EXPORT) is None
