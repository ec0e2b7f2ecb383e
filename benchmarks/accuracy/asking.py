"""What each tool says of a pair, in the use that its own manual recommends; no answer is an answer of its own."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.accuracy.release import Release
from benchmarks.against_peers import install_abicheck
from examples.obtain import require

INCOMPATIBLE = 8
"""The bit of abidiff's exit code that says that the change breaks (documented in its manual)."""

SECONDS = 300
"""Processor seconds for one command; who needs more gives no answer."""

MEMORY = 8 << 30
COMPILED_WITH_ERRORS = 6
"""ABICC's exit code where a header does not compile alone; it reports a percentage all the same."""

CAUSES = 8
"""How many causes an answer keeps, each cut to this many letters:"""
LETTERS = 110
FOLDERS = re.compile(r"(?<![\w.])(?:/[^\s/'\"]+)+/")

NO_ANSWER: Final = "no answer"
VERDICTS: Final = frozenset({"BREAKING", "API_BREAK", "COMPATIBLE_WITH_RISK", "COMPATIBLE", "NO_CHANGE"})
PERCENT: Final = re.compile(r"([\d.]+) %(, headers with errors)?")

STOPPING: Final = frozenset({"BREAKING", "API_BREAK"})
"""The verdicts of abistore at which a gate stops, unless it is told otherwise."""


@dataclass(frozen=True)
class Said:
    """A tool's own word, whether that is a break (``None``: it gave no answer), and what it names as the causes."""

    word: str
    breaks: bool | None
    causes: tuple[str, ...] = ()


def no_answer(why: str) -> Said:
    """What stands for a tool that failed or did not end, in one line without the folders of this machine."""
    return Said(f"{NO_ANSWER}: {' '.join(FOLDERS.sub('', why).split())[:LETTERS]}", None)


def is_break(tool: str, word: str) -> bool | None:
    """Whether a tool's word says that programs break, by the tool's own rule; ``None`` for no answer.

    ``ValueError`` where this is no word of the tool.
    """
    if word.startswith(f"{NO_ANSWER}: "):
        return None
    match tool:
        case "abistore" | "abicheck" if word in VERDICTS:
            return word == "BREAKING"
        case "abidiff" if word in ("incompatible", "change", "none"):
            return word == "incompatible"
        case "ABICC" if percent := PERCENT.fullmatch(word):
            return float(percent[1]) < 100
    raise ValueError(f"no word of {tool}: {word}")


@dataclass(frozen=True)
class Done:
    """A command that ended: its exit code (negative: by a signal) and what it printed."""

    code: int
    out: str
    error: str

    @property
    def failure(self) -> str:
        """Why it gave no answer."""
        if self.code in (-24, -9, 152, 137):
            return f"stopped after {SECONDS} s of processor time or {MEMORY >> 30} GiB"
        told = [line for line in (self.error or self.out).splitlines() if re.search("(?i)error|killed|memory", line)]
        return f"exit {self.code}: {(told or [self.error or self.out])[0]}"


def run(words: Sequence[str | Path], folder: Path, variables: Mapping[str, str] | None = None) -> Done:
    """Run a command within the limits, in a folder of its own."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    surroundings = {**os.environ, **(variables or {}), "LC_ALL": "C.UTF-8"}
    command = [str(word) for word in words]
    try:
        done = subprocess.run(
            *(command,),
            **{"cwd": folder, "env": surroundings, "preexec_fn": limit, "capture_output": True, "text": True},
            timeout=4 * SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Done(-24, "", "")
    return Done(done.returncode, done.stdout, done.stderr)


def abistore(old: Release, new: Release, headers: bool, folder: Path) -> Said:
    """``abistore compare``: the verdict, and the kinds of the changes that lead to it, where it is one of a break."""
    words: list[str | Path] = [sys.executable, "-m", "abistore", "compare", "--json", old.binary, new.binary]
    done = run([*words, *(_abistore_headers(old, new) if headers else [])], folder)
    if done.code not in (0, 2, 4):
        return no_answer(done.failure)
    document = json.loads(done.out)["data"]
    verdict = document["verdict"]
    impact = verdict.lower() if verdict in STOPPING else ""
    leading = {f"{each['kind']} {each['symbol']}" for each in document["changes"] if each["impact"] == impact}
    return Said(verdict, is_break("abistore", verdict), tuple(sorted(leading)))


def _abistore_headers(old: Release, new: Release) -> list[str | Path]:
    words: list[str | Path] = ["--language", old.language]
    for side, release in (("old", old), ("new", new)):
        words += [word for path in release.headers for word in (f"--{side}-header", path)]
        words += [word for path in release.include for word in (f"--{side}-include-dir", path)]
    for define in old.defines:
        words += ["--define", define]
    return [*words, *(word for option in old.options for word in ("--clang-arg", option))]


def abidiff(old: Release, new: Release, headers: bool, folder: Path) -> Said:
    """``abidiff``: bit 8 of its exit code says incompatible; with headers, their folders name what is public."""
    words: list[str | Path] = [require("abidiff", "abigail-tools")]
    if headers:
        words += ["--headers-dir1", staged(old, folder / "old"), "--headers-dir2", staged(new, folder / "new")]
    done = run([*words, old.binary, new.binary], folder)
    if done.code < 0 or done.code & 3:
        return no_answer(done.failure)
    word = "incompatible" if done.code & INCOMPATIBLE else "change" if done.code else "none"
    causes = [line.strip() for line in done.out.splitlines() if re.match(r"\s+\[[ACD]\]", line)]
    return Said(word, is_break("abidiff", word), tuple(causes))


def abicc(old: Release, new: Release, _headers: bool, folder: Path) -> Said:
    """``abi-compliance-checker``, over dumps of ``abi-dumper`` where there is debug information, else over headers."""
    checker = require("abi-compliance-checker", "abi-compliance-checker")
    words: list[str | Path] = [checker, "-bin", "-l", old.library, "-report-path", "report.html"]
    words += ["-lang", "C" if old.language == "c" else "C++"] if not has_debug(old.binary) else []
    for side, release in (("old", old), ("new", new)):
        option = f"-{side}"
        if not has_debug(release.binary):
            descriptor = folder / f"{side}.xml"
            descriptor.write_text(_descriptor(release))
            words += [option, descriptor]
            continue
        dumper: list[str | Path] = [require("abi-dumper", "abi-dumper"), release.binary, "-lver", release.version]
        public = staged(release, folder / side)
        done = run([*dumper, "-o", f"{side}.dump", "-public-headers", public], folder)
        if done.code or not (folder / f"{side}.dump").exists():
            return no_answer(f"abi-dumper: {done.failure}")
        words += [option, f"{side}.dump"]
    done = run(words, folder)
    percent = re.search(r"Binary compatibility: ([\d.]+)%", done.out)
    if done.code not in (0, 1, COMPILED_WITH_ERRORS) or not percent:
        return no_answer(done.failure)
    remark = ", headers with errors" if done.code == COMPILED_WITH_ERRORS else ""
    word = f"{percent[1]} %{remark}"
    return Said(word, is_break("ABICC", word))


def _descriptor(release: Release) -> str:
    """A library as ABICC wants it described where it reads headers."""
    names = release.umbrella or release.headers
    found = [next(folder / name for folder in release.include if (folder / name).exists()) for name in names]
    flags = " ".join([*(f"-D{each}" for each in release.defines), *release.options])
    parts = {
        "version": release.version,
        "headers": "\n".join(map(str, found)),
        "libs": str(release.binary),
        "include_paths": "\n".join(map(str, release.include)),
        "gcc_options": flags,
    }
    return "".join(f"<{key}>\n{value}\n</{key}>\n" for key, value in parts.items() if value)


def abicheck(old: Release, new: Release, headers: bool, folder: Path) -> Said:
    """``abicheck compare`` with the Clang of this machine, as its documented CastXML comes from no package index."""
    language = "c" if old.language == "c" else "c++"
    standard = [option.removeprefix("-std=") for option in old.options if option.startswith("-std=")]
    lines = ["compile:", "  frontend: clang", f"  lang: {language}", *(f"  std: {each}" for each in standard)]
    (folder / ".abicheck.yml").write_text("\n".join(lines) + "\n")
    words: list[str | Path] = [install_abicheck(), "compare", old.binary, new.binary, "-o", "json=report.json"]
    for side, release in (("old", old), ("new", new)) if headers else ():
        words += [word for path in release.headers for word in ("-H", f"{side}={path}")]
        words += [word for path in release.include for word in ("-I", f"{side}={path}")]
    words += [word for define in old.defines for word in ("-D", define)]
    done = run(words, folder)
    report = folder / "report.json"
    if done.code not in (0, 2, 4) or not report.exists():
        return no_answer(done.failure)
    document: dict[str, Any] = json.loads(report.read_text())
    breaking = [each for each in document.get("changes", ()) if each.get("severity") == "breaking"]
    causes = {f"{each.get('kind')} {each.get('symbol')}" for each in breaking}
    return Said(document["verdict"], is_break("abicheck", document["verdict"]), tuple(sorted(causes)))


def staged(release: Release, folder: Path) -> Path:
    """A folder that holds the public headers and nothing else, for tools that ask for one."""
    for path in release.headers:
        target = folder / path.relative_to(release.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder


def has_debug(binary: Path) -> bool:
    """Whether the library holds debug information."""
    done = subprocess.run([require("readelf", "binutils"), "-SW", binary], capture_output=True, text=True)
    return ".debug_info" in done.stdout


def soname(binary: Path) -> str:
    """The name that programs ask the loader for; the file's where it says none."""
    done = subprocess.run([require("readelf", "binutils"), "-dW", binary], capture_output=True, text=True)
    found = re.search(r"Library soname: \[(.*?)\]", done.stdout)
    return found[1] if found else binary.name


Tool = Callable[[Release, Release, bool, Path], Said]

TOOLS: Mapping[tuple[str, str], Tool] = {
    ("abistore", "files"): abistore,
    ("abistore", "headers"): abistore,
    ("abidiff", "files"): abidiff,
    ("abidiff", "headers"): abidiff,
    ("ABICC", "headers"): abicc,
    ("abicheck", "headers"): abicheck,
}
"""Every tool and evidence of the tables, in their order."""


def ask(tool: str, mode: str, old: Release, new: Release) -> Said:
    """What a tool says of a pair; its files lie in a folder that is gone afterwards."""
    with TemporaryDirectory() as name:
        said = TOOLS[tool, mode](old, new, mode == "headers", Path(name))
    return Said(said.word, said.breaks, tuple(each[:LETTERS] for each in said.causes[:CAUSES]))
