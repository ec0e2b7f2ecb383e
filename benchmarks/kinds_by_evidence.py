"""Measure which kinds of change each evidence shows: ``python -m benchmarks.kinds_by_evidence [--again] [KIND...]``.

Every case of the rules that fires is built once for each evidence. What each shows goes to
``docs/lab/kinds-by-evidence.json``, of which the site makes a page; ``--again`` measures only what
was not seen the last time, and cases that are new. Named kinds are measured and printed only.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from abistore.diffing.judge.judged import compare
from abistore.errors import AbistoreError
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, Language
from abistore.model.snapshot import Snapshot
from benchmarks.kinds_not_seen import REASONS, SEEN, why
from tests.build import CACHE as BUILT
from tests.cases import RULES, Case, Fence, cases, judged, kinds
from tests.public_headers import beside

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "docs" / "lab" / "kinds-by-evidence.json"
CACHE = Path(os.environ.get("ABISTORE_EVIDENCE_CACHE", ROOT / ".cache" / "evidence"))
PROCESSES = 2

SUFFIXES = {"c": ".c", "cpp": ".cc"}
ZIG = f"{sys.executable} -m ziglang"
LINKERS_OF_ELF = ("-Wl,", "-fuse-ld", "-shared", "-static")
DEBUG = "-g"


class Toolchain(NamedTuple):
    """How one evidence is built: compilers of C and C++, options, and the file that comes out."""

    c: str
    cpp: str
    options: tuple[str, ...]
    name: str
    elf: bool = False


PE = (f"{ZIG} cc -target x86_64-windows-gnu", f"{ZIG} c++ -target x86_64-windows-gnu")
MACHO = (f"{ZIG} cc -target x86_64-macos", f"{ZIG} c++ -target x86_64-macos")
TOOLCHAINS = {
    "gcc": Toolchain("gcc", "g++", (), "libcase.so", elf=True),
    "clang": Toolchain("clang", "clang++", ("-grecord-command-line",), "libcase.so", elf=True),
    "headers": Toolchain("gcc", "g++", ("-g0",), "libcase.so", elf=True),
    "pe-dwarf": Toolchain(*PE, ("-gdwarf-4", "-grecord-command-line"), "case.dll"),
    "pe-pdb": Toolchain(*PE, ("-gcodeview",), "case.dll"),
    "macho": Toolchain(*MACHO, ("-grecord-command-line",), "libcase.dylib"),
}


class Seen(NamedTuple):
    """What one evidence shows of a case: the kinds, or why it could not be built."""

    kinds: tuple[str, ...] = ()
    failed: str = ""


class NotBuilt(Exception):
    """A compiler refuses a source: the case is of another platform."""


def measured(path: Path, number: int, evidence: str) -> Seen:
    """The kinds that comparing both sides of a case gives, built as ``evidence`` is."""
    case = cases(path)[number - 1]
    compiled = any(fence.language in SUFFIXES and "file" not in fence.options for fence in case.fences)
    if evidence == "headers" and not compiled:
        return Seen(tuple(sorted(kinds(judged(case)))))
    if any(fence.is_snapshot for fence in case.fences) or case.is_release:
        return Seen(failed="not compiled")
    try:
        old, new = (side_of(case, side, evidence) for side in ("old", "new"))
        return Seen(tuple(sorted(kinds(compare(old, new)))))
    except NotBuilt as error:
        return Seen(failed=f"not built: {error}")
    except AbistoreError as error:
        return Seen(failed=f"not read: {error.code}")


def side_of(case: Case, side: str, evidence: str) -> Snapshot:
    """One side of a case as an evidence shows it."""
    own = [fence for fence in case.fences if fence.side in (side, "")]
    sources = [fence for fence in own if fence.language in SUFFIXES and "file" not in fence.options]
    public = [fence for fence in own if fence.language == "header" and (fence.is_public or not sources)]
    if not sources:
        raise NotBuilt("declared in headers only")
    main = sources[0]
    library = built(own, main, evidence)
    binary = read_snapshot(library, ExtractOptions(library="libcase", layout=evidence != "headers"))
    if evidence != "headers":
        return binary
    language: Language = "c" if main.language == "c" else "c++"
    files = {name_of(fence) or "case.h": fence.body for fence in public or own if fence.language != "map"}
    return beside(binary, files, language, public[0].options.get("std", "") if public else "")


def name_of(fence: Fence) -> str | None:
    """The file of a fence, where it is no main source."""
    return fence.options.get("file") or {"header": "case.h", "map": "case.map"}.get(fence.language)


def built(own: Sequence[Fence], main: Fence, evidence: str) -> Path:
    """The library that a side's source makes with the compilers of ``evidence``, cached by what goes in."""
    tools = TOOLCHAINS[evidence]
    inputs = {name: fence.body for fence in own if (name := name_of(fence))}
    inputs["case" + SUFFIXES[main.language]] = main.body
    given = shlex.split(main.options.get("flags", "-g -O1"))
    flags = [each for each in given if tools.elf or not each.startswith(LINKERS_OF_ELF)]
    compiler = tools.c if main.language == "c" else tools.cpp
    options = tools.options if any(each.startswith(DEBUG) for each in given) else ("-g0",)
    command = [*shlex.split(compiler), "-shared", *flags, *options, "case" + SUFFIXES[main.language], "-o", tools.name]
    if tools.elf:
        soname = main.options.get("soname")
        command += ["-fPIC", *([f"-Wl,-soname,{soname}"] if soname else [])]
    if evidence == "macho":
        soname = main.options.get("soname", tools.name)
        command += ["-Wl,-undefined,dynamic_lookup", f"-Wl,-install_name,@rpath/{soname}"]
        command += [each for each in given if each.startswith("-Wl,-rpath")]
        if main.language == "cpp" and not any("#include <" in text for text in inputs.values()):
            command.append("-nostdlib++")  # as Apple's linker does, which has the runtime in the system
    steps = [command, ["dsymutil", tools.name]] if evidence == "macho" else [command]
    key = hashlib.sha256(repr((sorted(inputs.items()), evidence, steps)).encode()).hexdigest()[:24]
    return made(CACHE / key, inputs, steps) / tools.name


def made(folder: Path, inputs: dict[str, str], steps: Sequence[Sequence[str]]) -> Path:
    """``folder`` with what ``steps`` make of ``inputs``. Raises :class:`NotBuilt`."""
    failure = folder / "failed"
    if failure.exists():
        raise NotBuilt(failure.read_text())
    if (folder / "done").exists():
        return folder
    work = folder.with_name(f"{folder.name}.{os.getpid()}")
    work.mkdir(parents=True)
    for name, text in inputs.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    zig = str(BUILT / "zig")  # its runtimes are compiled once for a platform
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": zig, "ZIG_LOCAL_CACHE_DIR": zig}
    for step in steps:
        done = subprocess.run(step, cwd=work, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            (work / "failed").write_text(first_error(done.stderr))
            break
    else:
        (work / "done").touch()
    try:
        work.rename(folder)
    except OSError:  # another process built the same content first
        shutil.rmtree(work)
    return made(folder, inputs, steps)


def first_error(said: str) -> str:
    """The first error of a compiler, without places."""
    lines = [line for line in said.splitlines() if "error" in line] or said.splitlines() or ["no reason given"]
    return lines[0].partition("error: ")[2] or lines[0]


def wanted(chosen: Iterable[str]) -> list[Case]:
    """The cases that fire, of all kinds or of those chosen."""
    files = [RULES / f"{kind}.md" for kind in chosen] or sorted(RULES.glob("*.md"))
    found = [case for path in files for case in cases(path) if not case.silent]
    return [case for case in found if f" {case.path.stem} " in f" {case.expected.replace(chr(10), ' ')} "]


def main(arguments: Sequence[str]) -> None:
    """Measure and write, or print."""
    chosen = [each for each in arguments if each != "--again"]
    known = json.loads(RESULT.read_text())["kinds"] if "--again" in arguments else {}
    said: dict[str, dict[str, list[Seen]]] = {}
    with ProcessPoolExecutor(PROCESSES) as pool:
        work = [
            (case.path.stem, evidence, pool.submit(measured, case.path, case.number, evidence))
            for case in wanted(chosen)
            for evidence in TOOLCHAINS
            if known.get(case.path.stem, {}).get(evidence) != SEEN
        ]
        for kind, evidence, each in work:
            said.setdefault(kind, {}).setdefault(evidence, []).append(each.result())
    kinds = {kind: {**known.get(kind, {}), **marks(kind, found)} for kind, found in said.items()}
    kinds = {**{kind: each for kind, each in known.items() if (RULES / f"{kind}.md").exists()}, **kinds}
    used = {mark for each in kinds.values() for mark in each.values()} - {SEEN}
    result = {"reasons": {key: REASONS.get(key, key) for key in sorted(used)}, "kinds": dict(sorted(kinds.items()))}
    text = json.dumps(result, indent=1) + "\n"
    if chosen:
        print(json.dumps(said, indent=1), text, sep="\n")
    else:
        RESULT.write_text(text)


def marks(kind: str, found: dict[str, list[Seen]]) -> dict[str, str]:
    """For each evidence that some case of ``kind`` is seen, or the key of the reason why none is."""
    return {
        evidence: SEEN
        if any(kind in each.kinds for each in seen)
        else why(kind, evidence, [each.failed for each in seen])
        for evidence, seen in found.items()
    }


if __name__ == "__main__":
    main(sys.argv[1:])
