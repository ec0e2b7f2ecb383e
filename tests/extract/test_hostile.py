"""Whatever the bytes are: a snapshot or an InputError with a message, and nothing else."""

from __future__ import annotations

import os
import random
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abistore.errors import ExtractError, InputError, LimitExceeded, UnknownFormat
from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import PT_LOAD, ElfFile
from abistore.extract.elf.reader import accepts
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions, reader_for
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.draws import draws
from tests.extract.elf_fixtures import every_sort_of_symbol, without_section_headers
from tests.extract.elf_oracles import run

pytestmark = pytest.mark.full

TABLES_ONLY = ExtractOptions(layout=False)


def outcome(path: Path) -> Snapshot | InputError:
    """What reading ``path`` gives. Anything but these two escapes and fails the test."""
    try:
        return read_snapshot(path, TABLES_ONLY)
    except InputError as error:
        assert error.message
        assert error.exit_code >= 64
        return error


def outcome_of(data: bytes, folder: Path) -> Snapshot | InputError:
    path = folder / "libcase.so"
    path.write_bytes(data)
    return outcome(path)


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "libcase.so").touch()
    with pytest.raises(InputError, match="empty"):
        read_snapshot(tmp_path / "libcase.so", TABLES_ONLY)


def test_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        read_snapshot(tmp_path, TABLES_ONLY)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_snapshot(tmp_path / "none.so", TABLES_ONLY)


def test_a_fifo_is_an_error_and_no_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "libcase.so")
    with pytest.raises(InputError, match="regular file"):
        read_snapshot(tmp_path / "libcase.so", TABLES_ONLY)


def test_a_device_is_an_error() -> None:
    with pytest.raises(InputError, match="regular file"):
        read_snapshot(Path("/dev/zero"), TABLES_ONLY)


def test_a_path_that_no_system_call_takes_is_an_error() -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        read_snapshot(Path("lib\0case.so"), TABLES_ONLY)


def test_an_unreadable_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "libcase.so"
    path.write_bytes(b"\x7fELF")
    path.chmod(0)
    if os.geteuid() == 0:  # modes do not bind root: refuse in its place

        def refuse(*_arguments: object) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("abistore.extract.files.os.open", refuse)
    with pytest.raises(InputError, match="not readable"):
        read_snapshot(path, TABLES_ONLY)


def test_a_text_file_is_of_no_known_format(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("INPUT is a word here, and GROUP (too)\n")
    with pytest.raises(UnknownFormat):
        reader_for(InputFile(path).head, path)
    with pytest.raises(UnknownFormat):
        read_snapshot(path, TABLES_ONLY)


def test_object_files_archives_executables_and_cores_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "case.c").write_text("int main(void) { return 0; }")
    run("gcc", "-c", tmp_path / "case.c", "-o", tmp_path / "case.o")
    run("ar", "rcs", tmp_path / "libcase.a", tmp_path / "case.o")
    run("ar", "rcsT", tmp_path / "libthin.a", tmp_path / "case.o")
    run("gcc", tmp_path / "case.c", "-o", tmp_path / "case")
    run("gcc", "-no-pie", tmp_path / "case.c", "-o", tmp_path / "fixed")
    run("gcc", "-static", tmp_path / "case.c", "-o", tmp_path / "static")
    run("gcc", "-static-pie", tmp_path / "case.c", "-o", tmp_path / "static-pie")
    core = bytearray((tmp_path / "case").read_bytes())
    core[16:18] = struct.pack("<H", 4)
    (tmp_path / "core").write_bytes(core)
    expected = {
        "case.o": "relocatable object",
        "libcase.a": "static archive",
        "libthin.a": "static archive",
        "case": "executable without exports",
        "fixed": "executable without exports",
        "static": "statically linked",
        "static-pie": "executable without exports",
        "core": "core dump",
    }
    for name, words in expected.items():
        assert accepts(InputFile(tmp_path / name).head), name
        with pytest.raises(ExtractError, match=words) as raised:
            read_snapshot(tmp_path / name, TABLES_ONLY)
        assert raised.value.hint or name == "core", name


def test_a_debug_file_is_not_taken_for_the_library(tmp_path: Path) -> None:
    run("objcopy", "--only-keep-debug", build_library("int f(void) { return 1; }"), tmp_path / "libcase.so.debug")
    with pytest.raises(ExtractError, match="only debug information"):
        read_snapshot(tmp_path / "libcase.so.debug", TABLES_ONLY)


def test_a_file_larger_than_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "libcase.so"
    path.write_bytes(b"\x7fELF" + bytes(5000))
    with pytest.raises(LimitExceeded, match="limit"):
        read_snapshot(path, ExtractOptions(layout=False, max_bytes=4096))


@pytest.mark.parametrize("machine", ["x86_64", "s390x", "armhf"])
def test_a_file_cut_anywhere_is_an_error(machine: str, tmp_path: Path) -> None:
    data = every_sort_of_symbol(machine).read_bytes()
    for size in random.Random(7).sample(range(len(data)), 100):
        assert isinstance(outcome_of(data[:size], tmp_path), InputError), size


def test_a_file_without_section_headers_that_is_cut_is_an_error(tmp_path: Path) -> None:
    data = without_section_headers(every_sort_of_symbol("x86_64").read_bytes())
    elf = ElfFile(every_sort_of_symbol("x86_64"))
    loaded = max(segment.offset + segment.file_size for segment in elf.segments if segment.type == PT_LOAD)
    assert isinstance(outcome_of(data[:loaded], tmp_path), Snapshot)
    for size in (loaded - 1, loaded - 100, loaded // 2):
        assert isinstance(outcome_of(data[:size], tmp_path), InputError), size


def test_random_bytes_are_an_error(tmp_path: Path) -> None:
    source = random.Random(11)
    for size in (1, 3, 4, 16, 17, 64, 1000, 50_000):
        noise = source.randbytes(size)
        assert isinstance(outcome_of(noise, tmp_path), InputError)
        for head in (b"\x7fELF\x02\x01\x01", b"\x7fELF\x01\x02\x01", b"\x7fELF\x01\x01\x01", b"!<arch>\n", b"INPUT("):
            assert isinstance(outcome_of(head + noise, tmp_path), InputError)


def interesting_ranges(path: Path) -> list[tuple[int, int]]:
    """The file ranges of the headers and of every table that the reader looks at."""
    elf = ElfFile(path)
    tables = [s for s in elf.sections if s.name.startswith((".dyn", ".gnu.", ".hash", ".note", ".shstr"))]
    data = path.read_bytes()
    sections = int.from_bytes(data[40:48], "little") if elf.bits == 64 else int.from_bytes(data[32:36], "little")
    return [(0, 64 + 56 * len(elf.segments)), (sections, len(data)), *((s.offset, s.offset + s.size) for s in tables)]


@pytest.mark.parametrize("headers", ["with", "without"])
@pytest.mark.parametrize("machine", ["x86_64", "armhf"])
def test_flipped_bits_give_a_snapshot_or_an_error(machine: str, headers: str, tmp_path: Path) -> None:
    path = every_sort_of_symbol(machine, "-Wl,--hash-style=gnu")
    original = path.read_bytes() if headers == "with" else without_section_headers(path.read_bytes())
    source = random.Random(f"{machine} {headers}")
    kinds = set()
    for start, end in interesting_ranges(path):
        for _ in range(25):
            data = bytearray(original)
            for _ in range(source.choice((1, 1, 3))):
                data[source.randrange(start, end)] ^= 1 << source.randrange(8)
            kinds.add(isinstance(outcome_of(bytes(data), tmp_path), Snapshot))
    assert kinds == {True, False}


@pytest.mark.parametrize("value", [0, 1, 0x7F, 0xFF])
def test_extreme_header_values_give_a_snapshot_or_an_error(value: int, tmp_path: Path) -> None:
    original = every_sort_of_symbol("x86_64").read_bytes()
    for position in range(16, 64, 2):
        for width in (2, 4, 8):
            data = bytearray(original)
            data[position : position + width] = bytes([value]) * width
            outcome_of(bytes(data), tmp_path)


@settings(max_examples=draws(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=400),
    head=st.sampled_from([b"", b"\x7fELF\x02\x01\x01\0", b"\x7fELF\x01\x02\x01\0", b"GROUP("]),
)
def test_any_bytes_give_a_snapshot_or_an_error(data: bytes, head: bytes, tmp_path: Path) -> None:
    outcome_of(head + data, tmp_path)


# --- compressed sections ------------------------------------------------------------------------------------------


def with_compressed_section(tmp_path: Path, method: int, declared: int, stream: bytes) -> ElfFile:
    """A library whose ``.debug_info`` is an SHF_COMPRESSED section with this header and stream."""
    (tmp_path / "raw").write_bytes(struct.pack("<IIQQ", method, 0, declared, 1) + stream)
    path = tmp_path / "libbomb.so"
    run(
        "objcopy",
        "--add-section",
        f".debug_info={tmp_path / 'raw'}",
        every_sort_of_symbol("x86_64"),
        path,
    )
    data = bytearray(path.read_bytes())
    table = int.from_bytes(data[40:48], "little")
    index = next(index for index, section in enumerate(ElfFile(path).sections) if section.name == ".debug_info")
    flags = table + 64 * index + 8
    data[flags : flags + 8] = struct.pack("<Q", 0x800)
    path.write_bytes(data)
    return ElfFile(path, max_bytes=1 << 24)


def zstd_frame(size: int) -> bytes:
    """A zstd frame of ``size`` zero bytes in run-length blocks: 4 bytes for each 128 KiB (RFC 8878)."""
    frame = b"\x28\xb5\x2f\xfd\x80" + b"\x58" + struct.pack("<I", size)
    while size:
        block = min(size, 1 << 17)
        size -= block
        frame += ((block << 3) | (1 << 1) | (size == 0)).to_bytes(3, "little") + b"\0"
    return frame


@pytest.mark.parametrize(("method", "stream"), [(1, zlib.compress(b"abc" * 100)), (2, None)])
def test_a_compressed_section_is_expanded(method: int, stream: bytes | None, tmp_path: Path) -> None:
    elf = with_compressed_section(tmp_path, method, 300, stream or zstd_frame(300))
    assert elf.section(".debug_info") == (b"abc" * 100 if stream else bytes(300))


@pytest.mark.parametrize("method", [1, 2])
def test_a_declared_size_above_the_limit_is_refused(method: int, tmp_path: Path) -> None:
    elf = with_compressed_section(tmp_path, method, 1 << 40, zlib.compress(b"x"))
    with pytest.raises(LimitExceeded, match="limit"):
        elf.section(".debug_info")


def test_a_section_that_would_expand_further_than_deflate_can_is_refused_before_it_is_expanded(tmp_path: Path) -> None:
    size = 1 << 30
    elf = with_compressed_section(tmp_path, 2, size, zstd_frame(size))
    elf.max_bytes = 4 << 30
    with pytest.raises(LimitExceeded, match="times as many"):
        elf.section(".debug_info")


@pytest.mark.parametrize("method", [1, 2])
def test_a_stream_that_gives_more_than_declared_is_refused(method: int, tmp_path: Path) -> None:
    size = 200 << 20
    stream = zlib.compress(bytes(size)) if method == 1 else zstd_frame(size)
    elf = with_compressed_section(tmp_path, method, 1 << 20, stream)
    with pytest.raises(ExtractError, match="size that it declares"):
        elf.section(".debug_info")


@pytest.mark.parametrize("method", [1, 2, 3])
def test_a_corrupt_stream_is_refused(method: int, tmp_path: Path) -> None:
    elf = with_compressed_section(tmp_path, method, 100, b"not a stream at all")
    with pytest.raises(ExtractError, match=r"\.debug_info"):
        elf.section(".debug_info")


def test_overlapping_endless_names_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    """A string table without ends makes each of many symbols as long as the table."""
    rows = 60_000
    strings = b"\0" + b"x" * 400_000
    table = b"".join(struct.pack("<IBBHQQ", 1 + index, 0x12, 0, 1, 0x10, 0) for index in range(rows))
    size = 64 + 2 * 56 + 6 * 16 + 8 + len(table) + len(strings)
    dynamic_at = 64 + 2 * 56
    hash_at = dynamic_at + 6 * 16
    table_at = hash_at + 8
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096)
    dynamic = struct.pack("<IIQQQQQQ", 2, 4, dynamic_at, dynamic_at, dynamic_at, 96, 96, 8)
    entries = [(5, table_at + len(table)), (10, len(strings)), (6, table_at), (4, hash_at), (0, 0), (0, 0)]
    tags = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    path = tmp_path / "libcase.so"
    path.write_bytes(header + load + dynamic + tags + struct.pack("<II", 1, rows) + table + strings)
    with pytest.raises(ExtractError, match="overlap"):
        read_snapshot(path, TABLES_ONLY)
