"""How ``abistore export`` stands against ``abicheck dump`` on the dylibs and DLLs of real wheels.

``python -m benchmarks.platform_peers macos|windows [WHEEL_FOLDER]`` downloads the wheels (``pip download``), takes
their libraries of a megabyte and more, and prints a table: processor seconds of the whole process, medians of
interleaved runs.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.against_peers import ABISTORE, install_abicheck
from benchmarks.measure import interleaved

PLATFORMS = {"macos": ("macosx_11_0_arm64", ".dylib"), "windows": ("win_amd64", ".dll")}
"""The tag of wheels, and how their libraries end."""

WHEELS = {"casadi": "3.8.2", "pyarrow": "17.0.0"}
LEAST_BYTES = 1 << 20
LEAST_TIMES = 3.0
RUNS, LIMIT = 3, 600


def main() -> int:
    """Print the table; the exit code tells whether every library is read three times as fast."""
    tag, suffix = PLATFORMS[sys.argv[1]]
    with TemporaryDirectory() as name:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(name)
        for package, version in WHEELS.items():
            if not list(folder.glob(f"{package}-{version}-*{tag}.whl")):
                download(package, version, tag, folder)
        peer, slow = install_abicheck(), 0
        print("| library | MB | abistore | abicheck | times |", "|---|--:|--:|--:|--:|", sep="\n")
        for path in libraries(folder, tag, suffix, Path(name)):
            commands = {
                "abistore": [ABISTORE, "export", path, "-o", Path(name) / "abistore.json"],
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


def download(package: str, version: str, tag: str, folder: Path) -> None:
    """One wheel for the platform that ``tag`` names."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder]
    wanted = ["--platform", tag, "--python-version", "3.11", f"{package}=={version}"]
    subprocess.run([*pip, *wanted], check=True)


def libraries(folder: Path, tag: str, suffix: str, out: Path) -> list[Path]:
    """The large libraries of all wheels, each of several equal ones once, by size."""
    seen: set[int] = set()
    found = []
    for wheel in sorted(folder.glob(f"*{tag}.whl")):
        with zipfile.ZipFile(wheel) as held:
            for each in sorted(held.infolist(), key=lambda one: one.filename):
                if each.filename.endswith(suffix) and each.file_size >= LEAST_BYTES and each.CRC not in seen:
                    seen.add(each.CRC)
                    path = out / Path(each.filename).name
                    path.write_bytes(held.read(each))
                    found.append(path)
    return sorted(found, key=lambda one: one.stat().st_size)


if __name__ == "__main__":
    sys.exit(main())
