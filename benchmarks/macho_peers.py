"""How ``abistore dump`` stands against ``abicheck dump`` on the dylibs of real wheels for macOS.

``python -m benchmarks.macho_peers [WHEEL_FOLDER]`` downloads the wheels (``pip download``), takes their dylibs of a
megabyte and more, and prints a table: processor seconds of the whole process, medians of interleaved runs.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.against_peers import ABISTORE, install_abicheck
from benchmarks.measure import interleaved

WHEELS = {"casadi": "3.8.2", "pyarrow": "17.0.0"}
LEAST_BYTES = 1 << 20
LEAST_TIMES = 3.0
RUNS, LIMIT = 3, 600


def main() -> int:
    """Print the table; the exit code tells whether every library is read three times as fast."""
    with TemporaryDirectory() as name:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(name)
        for package, version in WHEELS.items():
            if not list(folder.glob(f"{package}-{version}-*.whl")):
                download(package, version, folder)
        peer, slow = install_abicheck(), 0
        print("| library | MB | abistore | abicheck | times |", "|---|--:|--:|--:|--:|", sep="\n")
        for path in dylibs(folder, Path(name)):
            commands = {
                "abistore": [ABISTORE, "dump", path, "-o", Path(name) / "abistore.json"],
                "abicheck": [peer, "dump", path, "-o", Path(name) / "abicheck.json"],
            }
            found = interleaved(commands, RUNS, LIMIT)
            own, other = found["abistore"], found["abicheck"]
            times = other.seconds / own.seconds
            slow += own.failed or (not other.failed and times < LEAST_TIMES)
            size = path.stat().st_size / LEAST_BYTES
            said = "failed" if other.failed else f"{other.seconds:.2f}"
            print(f"| {path.name} | {size:.1f} | {own.seconds:.2f} | {said} | {times:.1f} |", flush=True)
    return int(bool(slow))


def download(package: str, version: str, folder: Path) -> None:
    """One wheel for Apple silicon."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder]
    wanted = ["--platform", "macosx_11_0_arm64", "--python-version", "3.11", f"{package}=={version}"]
    subprocess.run([*pip, *wanted], check=True)


def dylibs(folder: Path, out: Path) -> list[Path]:
    """The large dylibs of all wheels, each of several equal ones once, by size."""
    seen: set[int] = set()
    found = []
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as held:
            for each in sorted(held.infolist(), key=lambda one: one.filename):
                if each.filename.endswith(".dylib") and each.file_size >= LEAST_BYTES and each.CRC not in seen:
                    seen.add(each.CRC)
                    path = out / Path(each.filename).name
                    path.write_bytes(held.read(each))
                    found.append(path)
    return sorted(found, key=lambda one: one.stat().st_size)


if __name__ == "__main__":
    sys.exit(main())
