#!/usr/bin/env python3
"""Build, verify and audit a release.

.ci/release.py build v1.2.0 --to FOLDER --key KEY       in the environment of .ci/locked/dev.txt
.ci/release.py verify FOLDER --allowed-signers FILE     needs Python and OpenSSH, nothing else
.ci/release.py audit                                    asks the index about known vulnerabilities
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
SUMS: Final = "SHA256SUMS"
SIGNATURE: Final = f"{SUMS}.sig"
NAMESPACE: Final = "abistore-release"
"""What a signature is for: one that the same key made for something else is refused."""

NO_DATA: Final = 69
"""The exit code of an audit that nobody could make (EX_UNAVAILABLE)."""


class Refused(Exception):
    """What is wrong with a release, in one sentence."""


class Audit(NamedTuple):
    """What the index knows about locked packages: the exit code and the lines that say so."""

    code: int
    lines: tuple[str, ...]


def main(words: Sequence[str] | None = None) -> int:
    """Run the command that ``words`` name; returns the exit code."""
    options = arguments().parse_args(words)
    try:
        match options.command:
            case "build":
                return build(options.tag, options.to, options.key)
            case "verify":
                print(verify(options.folder, options.allowed_signers))
            case _:
                return printed(audit(ROOT / ".ci" / "locked" / f"{options.lock}.txt"))
    except Refused as refused:
        print(f"refused: {refused}", file=sys.stderr)
        return 1
    return 0


def arguments() -> argparse.ArgumentParser:
    """The commands and their options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="wheel, sdist, bill of materials, checksums and signature of a tag")
    building.add_argument("tag", help="a tag of this repository: v1.2.0")
    building.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="a folder that is missing or empty")
    building.add_argument("--key", type=Path, help="the SSH key that signs; without it nothing is signed")
    verifying = commands.add_parser("verify", help="the signature and checksums of a folder")
    verifying.add_argument("folder", type=Path)
    verifying.add_argument("--allowed-signers", type=Path, required=True, metavar="FILE", help="see ssh-keygen(1)")
    auditing = commands.add_parser("audit", help="known vulnerabilities of locked packages")
    auditing.add_argument(
        "--lock", choices=("run", "test", "dev"), default="run", help="default: run, what users install"
    )
    return parser


def build(tag: str, folder: Path, key: Path | None) -> int:
    """Fill ``folder`` with the release of ``tag``, which is built twice and has to be the same each time."""
    if folder.exists() and any(folder.iterdir()):
        raise Refused(f"{folder} is not empty")
    with TemporaryDirectory() as temporary:
        first, second = (built(tag, Path(temporary) / name) for name in ("first", "second/in/another/folder"))
        check_equal(first, second)
        check_version(first, tag)
        if printed(audit(first.with_name("clone") / ".ci" / "locked" / "run.txt")) not in (0, NO_DATA):
            raise Refused("a locked package has a known vulnerability: run .ci/lock -P NAME, and commit")
        run(sys.executable, "-m", "twine", "check", "--strict", *files_of(first))
        write_bill(first.with_name("clone"), tag, first)
        shutil.copytree(first, folder, dirs_exist_ok=True)
    sums = "".join(f"{digest(path)}  {path.name}\n" for path in files_of(folder))
    (folder / SUMS).write_text(sums)
    if key:
        run("ssh-keygen", "-Y", "sign", "-f", key, "-n", NAMESPACE, folder / SUMS)
    print(f"{sums}{'signed' if key else 'NOT SIGNED: no --key'}")
    return 0


def built(tag: str, folder: Path) -> Path:
    """The folder with wheel and sdist of ``tag``, built in a clone of this repository."""
    clone, result = folder / "clone", folder / "dist"
    run("git", "-c", "advice.detachedHead=false", "clone", "-q", "--branch", tag, ROOT, clone)
    check_changelog(clone, tag)
    seconds = run("git", "-C", clone, "log", "-1", "--format=%ct", "HEAD").strip()
    surroundings = {**os.environ, "SOURCE_DATE_EPOCH": seconds}
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", result, clone, surroundings=surroundings)
    return result


def check_changelog(clone: Path, tag: str) -> None:
    """Refuse a release that CHANGELOG.md has no section for."""
    version = tag.removeprefix("v")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", (clone / "CHANGELOG.md").read_text(), re.M):
        raise Refused(f"CHANGELOG.md of {tag} has no section '## [{version}] - YEAR-MONTH-DAY'")


def check_equal(first: Path, second: Path) -> None:
    """Refuse two builds that differ in a byte."""
    one, two = ({path.name: digest(path) for path in files_of(folder)} for folder in (first, second))
    if one != two:
        raise Refused(f"two builds differ: {', '.join(sorted(name for name, _ in one.items() ^ two.items()))}")


def check_version(folder: Path, tag: str) -> None:
    """Refuse a build that is not called like its tag, such as one of a tag that is no version."""
    version = tag.removeprefix("v")
    expected = {f"abistore-{version}-py3-none-any.whl", f"abistore-{version}.tar.gz"}
    if (names := {path.name for path in files_of(folder)}) != expected:
        raise Refused(f"{tag} builds {', '.join(sorted(names))}")


def write_bill(clone: Path, tag: str, folder: Path) -> None:
    """Write the CycloneDX bill of materials: what the wheel requires with all extras, as it is locked."""
    environment = folder.with_name("environment")
    run(sys.executable, "-m", "uv", "venv", "-q", "-p", sys.executable, environment)
    locked = clone / ".ci" / "locked" / "run.txt"
    run(sys.executable, "-m", "uv", "pip", "install", "-q", "-p", environment, "--require-hashes", "-r", locked)
    tool = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON")
    bill = json.loads(run(*tool, "--pyproject", clone / "pyproject.toml", environment / "bin" / "python"))
    version = tag.removeprefix("v")
    # the version comes from the tag, which the tool does not ask
    bill["metadata"]["component"] |= {"version": version, "purl": f"pkg:pypi/abistore@{version}"}
    (folder / f"abistore-{version}.cdx.json").write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n")


def verify(folder: Path, signers: Path) -> str:
    """What was verified: that an allowed signer signed the checksums, and that they are those of the files."""
    sums, signature = folder / SUMS, folder / SIGNATURE
    if missing := [path.name for path in (sums, signature) if not path.is_file()]:
        raise Refused(f"{folder} has no {' and no '.join(missing)}")
    found = run("ssh-keygen", "-Y", "find-principals", "-f", signers, "-s", signature)
    signer = found.splitlines()[0]
    call = ("ssh-keygen", "-Y", "verify", "-f", signers, "-I", signer, "-n", NAMESPACE, "-s", signature)
    run(*call, stdin=sums.read_bytes())
    listed = {name: value for value, name in (line.split("  ", 1) for line in sums.read_text().splitlines())}
    present = {path.name: digest(path) for path in files_of(folder) if path.name not in (SUMS, SIGNATURE)}
    if wrong := sorted({name for name, _ in listed.items() ^ present.items()}):
        raise Refused(f"changed, missing, or not in {SUMS}: {', '.join(wrong)}")
    return f"verified: {len(present)} files, signed by {signer}"


def audit(lock: Path) -> Audit:
    """What the index knows about the packages of ``lock``."""
    call = (sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off")
    done = subprocess.run([*call, "-f", "json", "-r", lock], capture_output=True, text=True)
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        reason = (done.stderr.strip().splitlines() or ["pip-audit printed nothing"])[-1]
        return Audit(NO_DATA, (f"no data: {lock.name} was not audited: {reason}",))
    return judged(answer, lock.name)


def judged(answer: Mapping[str, Any], lock: str) -> Audit:
    """The audit of ``lock`` by the answer of pip-audit, which passes packages that it knows nothing about."""
    packages = answer["dependencies"]
    known = [
        f"{each['name']} {each['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'no version'}"
        for each in packages
        for found in each.get("vulns", ())
    ]
    skipped = [each["skip_reason"] for each in packages if "skip_reason" in each]
    gap = f"no data: {len(skipped)} of {len(packages)} packages of {lock} were not audited"
    unread = (f"{gap}: {skipped[0]}",) if skipped else () if packages else (f"no data: {lock} has no packages",)
    if known or unread:
        return Audit(1 if known else NO_DATA, (*known, *unread))
    return Audit(0, (f"audited: {len(packages)} packages of {lock}, no known vulnerability",))


def printed(audited: Audit) -> int:
    """The exit code of an audit, whose lines are printed."""
    print(*audited.lines, sep="\n")
    return audited.code


def files_of(folder: Path) -> list[Path]:
    """The files of a folder, by name."""
    return sorted(folder.iterdir())


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal; of a folder there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"


def run(*words: str | Path, surroundings: Mapping[str, str] | None = None, stdin: bytes = b"") -> str:
    """What a program prints; raises :class:`Refused` with its last lines if it fails."""
    done = subprocess.run(words, capture_output=True, env=surroundings, input=stdin)
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise Refused("\n  ".join((f"{' '.join(map(str, words))} ended with {done.returncode}", *said[-12:])))
    return done.stdout.decode()


if __name__ == "__main__":
    sys.exit(main())
