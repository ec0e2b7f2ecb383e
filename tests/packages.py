"""Builds packages of every kind: by the tools of their systems where these are there, else byte by byte."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from backports import zstd

NOTHING: Mapping[str, str] = {}

Files: TypeAlias = Mapping[str, Path | bytes | str]
"""What a package holds by path: a file to copy, bytes, or as text where a link leads."""

RPM = Path(__file__).parent / "extract" / "packages" / "libcase-1.0-1.x86_64.rpm"
"""Built by `rpmbuild -bb libcase.spec`, with zstd as its payload's compression; the recipe is beside it."""

COMPRESSIONS = {"": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}


def folder(place: Path, files: Files) -> Path:
    """A folder with these files."""
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
    return place


def deb(
    place: Path,
    files: Files,
    *,
    name: str = "libcase1",
    version: str = "1.0-1",
    compression: str = "xz",
    depends: str = "",
    control: Mapping[str, str] = NOTHING,
    symbols: str = "",
) -> Path:
    """A Debian package, made by dpkg-deb; ``control`` are further fields."""
    root = folder(place / f"{name}-{version}", files)
    (root / "DEBIAN").mkdir(parents=True)
    fields = {"Package": name, "Version": version, "Architecture": "amd64", "Maintainer": "Nobody <n@example.org>"}
    text = "".join(
        f"{field}: {value}\n"
        for field, value in {**fields, **control, **({"Depends": depends} if depends else {})}.items()
    )
    (root / "DEBIAN" / "control").write_text(f"{text}Description: a library for tests\n")
    if symbols:
        (root / "DEBIAN" / "symbols").write_text(symbols)
    made = place / f"{name}_{version}_amd64.deb"
    command = ["dpkg-deb", "--build", "--root-owner-group", f"-Z{compression}", str(root), str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def tar_bytes(files: Files) -> bytes:
    """A tar archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                held = content if isinstance(content, bytes) else content.read_bytes()
                member.size = len(held)
                archive.addfile(member, io.BytesIO(held))
    return data.getvalue()


def tar(place: Path, files: Files, *, name: str = "libcase-1.0", compression: str = "gz") -> Path:
    """A tar archive in a file."""
    suffix = f".tar.{compression}" if compression else ".tar"
    made = place / f"{name}{suffix}"
    made.write_bytes(COMPRESSIONS[compression](tar_bytes(files)))
    return made


def wheel(place: Path, files: Files, *, name: str = "case", version: str = "1.0") -> Path:
    """A Python wheel."""
    made = place / f"{name}-{version}-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            assert not isinstance(content, str), "wheels have no links"
            archive.writestr(path, content if isinstance(content, bytes) else content.read_bytes())
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nText: with colons\n"
        archive.writestr(f"{name}-{version}.dist-info/METADATA", metadata)
    return made


def conda(place: Path, files: Files, *, name: str = "case", version: str = "1.0") -> Path:
    """A package of conda."""
    made = place / f"{name}-{version}-0.conda"
    index = json.dumps({"name": name, "version": version, "build": "0"}).encode()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("metadata.json", '{"conda_pkg_format_version": 2}')
        archive.writestr(f"pkg-{name}-{version}-0.tar.zst", zstd.compress(tar_bytes(files)))
        archive.writestr(f"info-{name}-{version}-0.tar.zst", zstd.compress(tar_bytes({"info/index.json": index})))
    return made


def cpio(members: list[tuple[str, int, bytes]]) -> bytes:
    """A cpio archive as RPM has it: path, mode and content of each member."""
    made = b""
    for number, (path, mode, content) in enumerate([*members, ("TRAILER!!!", 0, b"")], 1):
        name = path.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        entry = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        made += entry + b"\0" * (-len(entry) % 4) + content + b"\0" * (-len(content) % 4)
    return made


def rpm(place: Path, payload: bytes, *, name: str = "case.rpm") -> Path:
    """The recorded RPM package with another payload, compressed by gzip."""
    data = RPM.read_bytes()
    end = data.index(zstd.compress(b"")[:4], 96)
    made = place / name
    made.write_bytes(data[:end] + gzip.compress(payload))
    return made
