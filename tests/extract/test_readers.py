"""Readers are picked by a file's head, may give several libraries, and share what is not of their format."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from abistore.cli.main import run
from abistore.errors import Incomparable, InputError, SnapshotError
from abistore.extract import reader as registry
from abistore.extract.capture import read_all, read_snapshot
from abistore.extract.dwarf.layout import read_layout
from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.reader import read_tables
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions, FacetReading, join
from abistore.model.snapshot import Evidence, Snapshot, Target
from abistore.model.snapshot_files import to_json
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import IngestPlan
from abistore.service.snapshots import capture
from tests.build import build_library

pytestmark = pytest.mark.fast

SOURCE = "struct point { int x, y; }; int norm(struct point *p) { return p->x; }"
MACHINES = ("x86_64", "arm64")


def empty(machine: str) -> Snapshot:
    return Snapshot(
        library="libcase", version=None, target=Target("macho", machine, 64, "little", "darwin"), entries={}
    )


@pytest.fixture
def universal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a format that holds one library for each of two machines, with a reader that is registered."""
    module = ModuleType("universal_reader")

    def read_universal(_file: InputFile, _options: ExtractOptions) -> Iterator[Snapshot]:
        yield from map(empty, MACHINES)

    vars(module).update(accepts=lambda head: head.startswith(b"\xca\xfe\xba\xbe"), read=read_universal)
    monkeypatch.setitem(sys.modules, "universal_reader", module)
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, "universal_reader"))
    path = tmp_path / "libcase.dylib"
    path.write_bytes(b"\xca\xfe\xba\xbe")
    return path


def test_a_reader_gives_all_libraries_of_a_file(universal: Path) -> None:
    with InputFile(universal) as file:
        assert [each.target.machine for each in read_all(file, ExtractOptions())] == list(MACHINES)


def test_who_needs_one_library_of_several_is_told_the_choices(universal: Path) -> None:
    with pytest.raises(InputError, match=r"contains 2 libraries: .*arm64.*, .*x86_64") as raised:
        capture(universal)
    assert "--target" in raised.value.hint
    assert capture(universal, target="arm64") == empty("arm64")
    assert capture(universal, target=str(empty("x86_64").target)) == empty("x86_64")
    with pytest.raises(InputError, match="contains 2 libraries"):
        capture(universal, target="riscv64")


def test_a_target_chooses_what_is_ingested(universal: Path, tmp_path: Path) -> None:
    (several,) = ingest([universal], IngestPlan(version="1"), database=tmp_path / "one.db")
    assert several.status == "failed" and "contains 2 libraries" in several.error
    (one,) = ingest([universal], IngestPlan(version="1", target="arm64"), database=tmp_path / "one.db")
    assert one.release is not None and "arm64" in str(one.release.line.target)


def test_dump_takes_the_library_for_a_target_and_refuses_files_without_one(
    universal: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["export", str(universal), "--target", "arm64"]) == 0
    assert b'"arm64"' in capfdbinary.readouterr().out
    assert run(["export", str(build_library(SOURCE)), "--target", "arm64"]) == Incomparable.exit_code
    assert b"not for arm64" in capfdbinary.readouterr().err


def test_a_json_snapshot_is_picked_by_its_head_as_a_library_is(tmp_path: Path) -> None:
    library = read_snapshot(build_library(SOURCE), ExtractOptions())
    path = tmp_path / "anything"
    path.write_bytes(b"\xef\xbb\xbf\n " + to_json(library))
    assert read_snapshot(path, ExtractOptions()) == library
    assert read_snapshot(path, ExtractOptions(library="other", version="2")).label == "other 2"
    path.write_text('{"no": "snapshot"}')
    with pytest.raises(SnapshotError, match="anything"):
        read_snapshot(path, ExtractOptions())


def test_a_facet_that_shows_nothing_has_no_entries() -> None:
    missing = FacetReading(Evidence("layout", "missing", "no-debug-info"), {})
    seen = FacetReading(Evidence("symbol", "full"), {}, compilers=("GNU C17",), debug_files=("a.debug",))
    snapshot = join(empty("arm64"), (seen, missing))
    assert set(snapshot.entries) == {"symbol"}
    assert [each.facet for each in snapshot.evidence] == ["symbol", "layout"]
    assert (snapshot.provenance.compilers, snapshot.provenance.debug_files) == (("GNU C17",), ("a.debug",))


class OtherFormat:
    """A file that is no ELF file for those who read its debug information: it has what they may ask for, no more."""

    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        self.path = elf.path
        self.little = elf.little
        self.tls_addresses = elf.tls_addresses
        self.alternate_link = None

    def has(self, name: str) -> bool:
        return self._elf.has(name)

    def section(self, name: str) -> bytes:
        return self._elf.section(name)

    def sections_named(self, name: str) -> Iterator[bytes]:
        return self._elf.sections_named(name)

    def check_unchanged(self) -> None:
        self._elf.check_unchanged()

    @property
    def size(self) -> int:
        return self._elf.size

    def another(self, path: Path) -> OtherFormat:
        return OtherFormat(self._elf.another(path))


@pytest.mark.parametrize("flags", [(), ("-gdwarf-4",), ("-gsplit-dwarf",)])
def test_debug_information_is_read_from_whatever_supplies_its_sections(flags: tuple[str, ...]) -> None:
    elf = ElfFile(build_library(SOURCE, flags=("-g", *flags)))
    tables, target = read_tables(elf), Target("elf", "x86_64", 64, "little")
    found, expected = (
        read_layout(file, file, tables.exports, ExtractOptions(), target=target, soname=None)
        for file in (OtherFormat(elf), elf)
    )
    assert found == expected
    assert found.evidence.state == "full"
