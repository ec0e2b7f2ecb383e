from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from abistore.errors import ExtractError, InputError, LimitExceeded
from abistore.extract.capture import read_all
from abistore.extract.files import open_input
from abistore.extract.packages import streams
from abistore.extract.packages.formats import LONGEST_HEADER, PAX, _extension
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot
from tests import packages
from tests.build import build_library

pytestmark = pytest.mark.full

LIBRARY = build_library("int case_add(int a, int b) { return a + b; }")
REGULAR, LINK, DEVICE = 0o100644, 0o120777, 0o020644


def read(path: Path) -> list[str]:
    return [each.library for each in snapshots(path)]


def snapshots(path: Path, **options: object) -> tuple[Snapshot, ...]:
    with open_input(path) as file:
        return read_all(file, ExtractOptions(**options))  # type: ignore[arg-type]


def zipped(place: Path, name: str, data: bytes) -> Path:
    path = place / "case.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("libcase.so", LIBRARY.read_bytes())
        archive.writestr(name, data)
    return path


def tarred(place: Path, *members: tarfile.TarInfo) -> Path:
    path = place / "case.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(LIBRARY, "libcase.so")
        for member in members:
            archive.addfile(member, io.BytesIO(b"\0" * member.size))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


WITH_NAME: dict[str, Callable[[Path, str], Path]] = {
    "zip": lambda place, name: zipped(place, name, b"x"),
    "tar": lambda place, name: tarred(place, tarfile.TarInfo(name)),
    "tar.xz": lambda place, name: packages.tar(place, {name: b"x"}, compression="xz"),
    "rpm": lambda place, name: packages.rpm(place, packages.cpio([(name, REGULAR, b"x")])),
}


@pytest.mark.parametrize("kind", WITH_NAME)
@pytest.mark.parametrize("name", ["../../evil.so", "usr/../../evil.so", "/../evil.so"])
def test_a_member_outside_of_its_package_is_refused(kind: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match="has a member with a path outside the package"):
        read(WITH_NAME[kind](tmp_path, name))


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.xz"])
def test_an_absolute_path_is_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match="has a member with a path outside the package"):
        read(WITH_NAME[kind](tmp_path, "/usr/lib/evil.so"))


@pytest.mark.parametrize("target", ["../../../../etc/passwd", str(LIBRARY), "/proc/self/mem"])
def test_a_link_out_of_a_package_leads_nowhere(target: str, tmp_path: Path) -> None:
    link = special("usr/lib/libevil.so", tarfile.SYMTYPE, target)
    assert read(tarred(tmp_path, link)) == ["libcase"]
    held = {"libcase.so": LIBRARY, "libevil.so": target}
    assert read(packages.folder(tmp_path / "root", held)) == ["libcase"]
    payload = [("./libcase.so", REGULAR, LIBRARY.read_bytes()), ("./libevil.so", LINK, target.encode())]
    assert read(packages.rpm(tmp_path, packages.cpio(payload))) == ["libcase"]


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_left_alone(kind: bytes, tmp_path: Path) -> None:
    assert read(tarred(tmp_path, special("usr/lib/libevil.so", kind))) == ["libcase"]
    os.mkfifo(packages.folder(tmp_path / "root", {"libcase.so": LIBRARY}) / "libevil.so")
    assert read(tmp_path / "root") == ["libcase"]
    payload = [("libcase.so", REGULAR, LIBRARY.read_bytes()), ("libevil.so", DEVICE, b"")]
    assert read(packages.rpm(tmp_path, packages.cpio(payload))) == ["libcase"]


def test_a_hard_link_is_the_library_that_it_links(tmp_path: Path) -> None:
    assert read(tarred(tmp_path, special("libcase.so.1", tarfile.LNKTYPE, "libcase.so"))) == ["libcase"]
    with pytest.raises(ExtractError, match="has a member with a path outside the package"):
        read(tarred(tmp_path, special("libcase.so.1", tarfile.LNKTYPE, "../../etc/shadow")))


BOMBS: dict[str, Callable[[Path, bytes], Path]] = {
    "zip": lambda place, data: zipped(place, "libbomb.so", data),
    "tar.gz": lambda place, data: packages.tar(place, {"libbomb.so": data}),
    "tar.bz2": lambda place, data: packages.tar(place, {"libbomb.so": data}, compression="bz2"),
    "tar.xz": lambda place, data: packages.tar(place, {"libbomb.so": data}, compression="xz"),
    "tar.zst": lambda place, data: packages.tar(place, {"libbomb.so": data}, compression="zst"),
    "deb": lambda place, data: packages.deb(place, {"libbomb.so": data}),
    "conda": lambda place, data: packages.conda(place, {"libbomb.so": data}),
    "rpm": lambda place, data: packages.rpm(place, packages.cpio([("libbomb.so", REGULAR, data)])),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_ends_at_its_ratio(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "FREE", 1 << 20)
    with pytest.raises(LimitExceeded, match="unpack to more than"):
        read(BOMBS[kind](tmp_path, b"\x7fELF" + b"\0" * (16 << 20)))


def test_a_bomb_ends_at_its_size(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded, match="unpack to more than 1,000,000"):
        snapshots(packages.tar(tmp_path, {"libbomb.so": os.urandom(2_000_000)}), max_bytes=1_000_000)


@pytest.mark.parametrize("kind", ["tar", "zip", "rpm", "folder"])
def test_a_bomb_ends_at_its_count(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MEMBERS", 50)
    names = [f"f{number}" for number in range(60)]
    if kind == "zip":
        path = tmp_path / "case.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"x")
    elif kind == "rpm":
        path = packages.rpm(tmp_path, packages.cpio([(name, REGULAR, b"x") for name in names]))
    elif kind == "tar":
        path = packages.tar(tmp_path, dict.fromkeys(names, b"x"))
    else:
        path = packages.folder(tmp_path / "root", dict.fromkeys(names, b"x"))
    with pytest.raises(LimitExceeded, match="has more than 50 members"):
        read(path)


def test_more_libraries_than_files_may_be_open_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from abistore.extract.packages import libraries

    monkeypatch.setattr(libraries, "MOST_LIBRARIES", 3)
    held = dict.fromkeys((f"lib{number}.so" for number in range(4)), LIBRARY)
    with pytest.raises(LimitExceeded, match="contains more than 3 libraries"):
        read(packages.tar(tmp_path, held))


def test_an_archive_in_an_archive_is_not_unpacked(tmp_path: Path) -> None:
    inner = packages.tar(tmp_path, {"libinner.so": LIBRARY}, name="inner-1")
    with pytest.raises(InputError, match=r"contains no shared library; left out: inner\.tar\.gz \(package\)") as told:
        read(packages.tar(tmp_path, {"inner.tar.gz": inner}, name="outer-1"))
    assert told.value.hint == "nested packages are not unpacked: extract it, and pass it"


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9, 0.999])
@pytest.mark.parametrize("kind", ["deb", "tar.gz", "tar.zst", "tar.xz", "tar.bz2", "zip", "rpm", "tar"])
def test_a_truncated_package_is_an_error_and_not_a_smaller_one(kind: str, cut: float, tmp_path: Path) -> None:
    held = {"liba.so": LIBRARY, "data": os.urandom(3000), "libz.so": LIBRARY.read_bytes() + b"z"}
    make = {
        "deb": lambda: packages.deb(tmp_path, held),
        "zip": lambda: packages.wheel(tmp_path, held),
        "rpm": lambda: packages.RPM,
        "tar": lambda: packages.tar(tmp_path, held, compression=""),
    }
    path = make[kind]() if kind in make else packages.tar(tmp_path, held, compression=kind.partition(".")[2])
    whole = path.read_bytes()
    if kind == "tar":
        whole = whole.rstrip(b"\0") + b"\0" * 100  # the end of an archive is two blocks of zeros
    short = tmp_path / "short"
    short.write_bytes(whole[: int(len(whole) * cut)])
    with pytest.raises(InputError):
        read(short)


def test_a_damaged_header_in_the_middle_is_no_end(tmp_path: Path) -> None:
    data = bytearray(packages.tar_bytes({"liba.so": LIBRARY, "libb.so": LIBRARY.read_bytes() + b"b"}))
    second = data.index(b"libb.so")
    data[second + 1] ^= 1
    path = tmp_path / "case.tar"
    path.write_bytes(data)
    with pytest.raises(ExtractError, match="a header in its tar archive is damaged"):
        read(path)


def test_something_compressed_that_is_no_archive_says_so(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(packages.COMPRESSIONS["gz"](b"text" * 1000))
    with pytest.raises(InputError, match="compressed, but not a tar archive"):
        read(path)


def test_nothing_is_left_of_a_killed_process(tmp_path: Path) -> None:
    package = packages.deb(tmp_path, {"usr/lib/libcase.so": LIBRARY, "usr/include/case.h": b"int case_add(int, int);"})
    program = f"""
import os, signal
from abistore.extract.packages.development import header_folder
from abistore.extract.packages.libraries import entries
from abistore.extract.packages.streams import UnpackBounds
from abistore.extract.files import open_input
from pathlib import Path
with header_folder() as folder, open_input(Path({str(package)!r})) as file:
    (folder / "case.h").write_text("int x;")
    kept = [each.keep() for each in entries(file, UnpackBounds("case", file.size, 1 << 30)) if each.keep]
    assert len(kept) == 2
    os.kill(os.getpid(), signal.SIGKILL)
"""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(temporary)})
    assert done.returncode == -signal.SIGKILL
    assert [each.name[:17] for each in temporary.iterdir()] == ["abistore-headers-"]  # some headers, and no library


def test_the_headers_that_a_killed_process_left_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from abistore.extract.packages.development import header_folder

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = packages.folder(tmp_path / "abistore-headers-left", {"0/usr/include/case.h": b"int x;"})
    (begun := tmp_path / "abistore-headers-begun").mkdir()  # another process is about to lock it
    with header_folder() as folder:
        assert not left.exists()
        assert begun.exists()
        with header_folder() as second:
            assert folder.exists() and second != folder
    assert list(tmp_path.glob("abistore-headers-*")) == [begun]


def test_an_extended_header_costs_what_its_bytes_cost() -> None:
    records = b"5 a=\n" * (LONGEST_HEADER // 5)
    before = time.process_time()
    assert _extension(PAX, records, "case") == {"a": ""}
    assert time.process_time() - before < 2  # it took six seconds and more


@pytest.mark.parametrize("damaged", [b"4 a=\n", b"900 a=b\n", b"0 a=b\n", b"9" * 30 + b" a=b\n", b"-7 a=b\n", b"7"])
def test_an_extended_header_whose_lengths_make_no_sense_is_an_error(damaged: bytes) -> None:
    with pytest.raises(ExtractError, match="in its tar archive is damaged"):
        _extension(PAX, b"7 a=bc\n" + damaged, "case")
