"""Programs that are started with both releases: those that a call asks for, and sources of a user's own."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from abistore.model.shapes import AnyShape, Function, Primitive, Qualified, Variable
from abistore.report.model import ReportedFinding, Witness
from abistore.witness.compilers import (
    SUFFIX,
    CommandResult,
    Language,
    Workshop,
    command_of,
    compiler,
    is_native,
    obstacle,
)
from abistore.witness.query import BOTH, Attempt, Query, ReleaseSources

MOST_PRINTED: Final = 4_000
"""Characters of what a program printed that are shown."""

_MAIN = re.compile(r"\bmain\s*\(")
_INCLUDE = re.compile(r"^\s*#\s*include\b", re.MULTILINE)


class Runner:
    """Builds programs against the old release, and starts them with the libraries of both."""

    def __init__(self, old: ReleaseSources, new: ReleaseSources, folder: Path) -> None:
        self._sides = {"old": old, "new": new}
        self._workshop = Workshop(folder)

    def obstacle(self) -> str:
        """Why nothing can be started; empty if programs can."""
        if any(each.file is None for each in self._sides.values()):
            return "starting a program needs the files of both releases"
        if not all(is_native(each.snapshot.target) for each in self._sides.values()):
            return "programs for its platform do not start here"
        return obstacle()

    def started(self, witness: Witness) -> Witness:
        """A witness of the dynamic linker with what its program prints when it is started."""
        if witness.sort != "load" or witness.state != "shown" or self.obstacle():
            return witness
        files = {name.removeprefix("old/"): text for name, text in witness.files if name.startswith("old/")}
        built = self._built("started", witness.program, files, witness.language)
        if not built.succeeded:
            return witness
        before, after = (printed_by(self._workshop.start("started", self._installed(side))) for side in BOTH)
        commands = (witness.commands[0], *_starting())
        return witness if before == after else replace(witness, commands=commands, before=before, after=after)

    def called(self, finding: ReportedFinding) -> Witness | None:
        """What a call without arguments, or a variable, gives an old program of the new library.

        ``None`` where that takes knowledge, or where a program that is compiled anew is given the same.
        """
        asked = Query(finding, self._sides["old"], self._sides["new"])
        printing = {side: _printing(shape) for side, shape in zip(BOTH, (asked.old, asked.new), strict=True)}
        if not all(printing.values()) or self.obstacle():
            return None
        programs = {side: _program(asked.includes(side), printing[side]) for side in BOTH}
        for side in BOTH:
            files = dict(asked.files_of(side))
            if not self._built(f"called-{side}", programs[side], files, asked.language, side).succeeded:
                return None
        before, after = (printed_by(self._workshop.start("called-old", self._installed(side))) for side in BOTH)
        anew = printed_by(self._workshop.start("called-new", self._installed("new")))
        if after == anew:
            return None
        reason = f"compiled with the new declarations, it prints {anew.strip()}"
        files_shown = tuple((f"old/{name}", text) for name, text in asked.files_of("old"))
        commands = (self._building(f"witness{SUFFIX[asked.language]}", asked.language), *_starting())
        found = Attempt("run", "shown", reason, programs["old"], files_shown, (), commands, before, after)
        return asked.answered(found, "shown")

    def snippet(self, name: str, text: str) -> Witness:
        """What a source of the user's own prints with both releases, built against the old one."""
        language: Language = "c" if name.endswith(".c") else "c++"
        program = self._whole(text)
        made = Witness("", "", name, "none", language=language, program=program)
        if reason := self.obstacle():
            return replace(made, reason=reason)
        built = self._built("snippet", program, {}, language)
        if not built.succeeded:
            said = built.error or "no compiler is installed"
            return replace(made, reason=f"does not build with the old release: {said}")
        before, after = (printed_by(self._workshop.start("snippet", self._installed(side))) for side in BOTH)
        return replace(
            made,
            state="none" if before == after else "shown",
            sort=None if before == after else "run",
            reason="it prints the same with both releases" if before == after else "",
            declarations="headers",
            commands=(self._building(name, language), *_starting()),
            before=before,
            after=after,
            compiler=found.version if (found := compiler(language)) else "",
        )

    def _building(self, name: str, language: Language) -> str:
        """How people build a program against the old release."""
        return f"{command_of(language)} -Iold {name} old/{self._sides['old'].soname} -o program"

    def _whole(self, text: str) -> str:
        """A source as a program: what includes nothing includes the public headers, and what has no ``main`` is one."""
        headers = (
            "" if _INCLUDE.search(text) else "".join(f'#include "{each}"\n' for each in self._sides["old"].headers)
        )
        printing = "" if _INCLUDE.search(text) else "#include <stdio.h>\n"
        if _MAIN.search(text):
            return f"{printing}{headers}{text}"
        body = "".join(f"    {line}\n" for line in text.rstrip().splitlines())
        return f"{printing}{headers}\nint main(void) {{\n{body}    return 0;\n}}\n"

    def _built(
        self, stem: str, program: str, files: Mapping[str, str], language: Language, side: str = "old"
    ) -> CommandResult:
        source = f"{stem}{SUFFIX[language]}"
        self._workshop.write({source: program, **{f"{stem}.d/{name}": text for name, text in files.items()}})
        compiled = self._workshop.compile(
            source, f"{stem}.o", [*self._sides[side].flags, f"-I{stem}.d", "-O0"], language
        )
        if not compiled.succeeded:
            return compiled
        flags = ["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", f"-L{self._installed(side)}"]
        return self._workshop.link([f"{stem}.o", f"-l:{self._sides[side].soname}"], stem, language, flags)

    def _installed(self, side: str) -> Path:
        """A folder with one side's library, by its own SONAME and by the one that the old program asks for."""
        folder = self._workshop.folder / f"{side}.started"
        folder.mkdir(exist_ok=True)
        file = self._sides[side].file
        assert file is not None
        for name in {self._sides[side].soname, self._sides["old"].soname}:
            if not (folder / name).exists():
                shutil.copy(file, folder / name)
        return folder


def _program(headers: Sequence[str], statement: str) -> str:
    included = "".join(f'#include "{each}"\n' for each in headers)
    return f"#include <stdio.h>\n{included}\nint main(void) {{\n    {statement}\n    return 0;\n}}\n"


INTEGERS: Final = frozenset({"_Bool", "bool", "char", "int", "long", "short", "signed", "unsigned"})
"""The words of the types that are printed as ``long long``."""


def _printing(shape: AnyShape | None) -> str:
    """A statement that prints what a call without arguments, or a variable, gives; empty where it takes knowledge."""
    match shape:
        case Function(parameters=(), variadic=False, noreturn=False, prototyped=True, method=None):
            value, type = f"{shape.display}()", shape.result
        case Variable(owner=None):
            value, type = shape.display, shape.type
        case _:
            return ""
    while isinstance(type, Qualified):
        type = type.target
    if not isinstance(type, Primitive):
        return ""
    if type.spelling in ("float", "double"):
        return f'printf("{value} = %g\\n", (double){value});'
    is_integer = set(type.spelling.split()) <= INTEGERS
    return f'printf("{value} = %lld\\n", (long long){value});' if is_integer else ""


def _starting() -> tuple[str, ...]:
    return tuple(f"LD_BIND_NOW=1 LD_LIBRARY_PATH={side} ./program" for side in BOTH)


def printed_by(result: CommandResult) -> str:
    """What a program printed, and how it ended if not well."""
    printed = result.printed
    if len(printed) > MOST_PRINTED:
        printed = f"{printed[:MOST_PRINTED]}\n... ({len(printed) - MOST_PRINTED:,} more characters)\n"
    return printed if result.succeeded else f"{printed}{result.error}\n"
