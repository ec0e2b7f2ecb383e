"""Damaged DLLs and PDB files give a snapshot or an error with a message, within tight limits of time and memory."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from abistore.errors import InputError, LimitExceeded
from abistore.extract.capture import read_snapshot
from abistore.extract.pe.container import PeFile
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot_files import from_json, to_json
from tests.draws import draws
from tests.extract.damage import damaged, tighten
from tests.extract.pe_fixtures import mingw, msvc
from tests.extract.test_pdb import FULL, LINK, SOURCE
from tests.extract.test_pe import SHAPES

pytestmark = pytest.mark.full

FLIPS = draws(60)


def outcomes(library: Path, victim: str, folder: Path, places: range) -> Counter[str]:
    """What reading ``library`` gives while ``victim`` beside it is damaged, again and again."""
    (folder / "case.dll").write_bytes(library.read_bytes())
    if library.with_suffix(".pdb").exists():
        (folder / "case.pdb").write_bytes(library.with_suffix(".pdb").read_bytes())
    original = (folder / victim).read_bytes()
    source = random.Random(f"{victim} {len(original)} {places.start}")
    found: Counter[str] = Counter()
    for number in range(FLIPS):
        (folder / victim).write_bytes(mutated(original, places, source))
        try:
            snapshot = read_snapshot(folder / "case.dll", ExtractOptions())
        except InputError as error:
            assert error.message
            assert not isinstance(error, LimitExceeded) or "took more than" not in error.message, f"file {number}"
            found["error"] += 1
        else:
            assert from_json(to_json(snapshot)) == snapshot
            found[snapshot.evidence_of("layout").state] += 1
    assert sum(found.values()) == FLIPS
    return found


def mutated(original: bytes, places: range, source: random.Random) -> bytes:
    """Bits flipped, a word set to a telling value, or the rest cut off."""
    sort = source.randrange(4)
    if sort == 0:
        return original[: source.randrange(len(original))]
    if sort == 1:
        at = source.choice(places)
        word = source.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, len(original), 0x1000, 0x1001))
        return original[:at] + word.to_bytes(4, "little") + original[at + 4 :]
    return damaged(original, places, source)


def test_damaged_tables_of_a_dll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tighten(monkeypatch)
    path = mingw(SHAPES)
    pe = PeFile(path)
    tables = [each for each in pe.sections if each.name in (".edata", ".idata")]
    for places in (range(1024), *(range(each.offset, each.offset + each.size) for each in tables)):
        assert outcomes(path, "case.dll", tmp_path, places)["error"]


def test_a_damaged_pdb_file_never_stops_the_reading_of_a_dll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tighten(monkeypatch)
    path = msvc(SOURCE, *FULL, link=LINK)
    size = path.with_suffix(".pdb").stat().st_size
    found = outcomes(path, "case.pdb", tmp_path, range(size))
    assert found["full"] and found["missing"]


def test_a_damaged_type_stream_of_a_pdb_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tighten(monkeypatch)
    path = msvc(SOURCE, *FULL, link=LINK)
    data = path.with_suffix(".pdb").read_bytes()
    start = data.index(b"Circle") - 2000
    assert outcomes(path, "case.pdb", tmp_path, range(max(start, 0), start + 6000))["full"]
