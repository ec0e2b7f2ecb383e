"""Programs that are started with both releases: those that a call asks for, and sources of a user's own."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from abistore.model.declarations import SELF
from abistore.model.shapes import Library
from abistore.report.model import Witness
from abistore.witness.compilers import SUFFIX, CommandResult, Language, Workshop, compiler, is_native, obstacle
from abistore.witness.query import ReleaseSources

BOTH: Final = ("old", "new")
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
        """A witness of the dynamic linker as its program is told when it is started."""
        if witness.sort != "load" or witness.state != "shown" or self.obstacle():
            return witness
        files = {name.removeprefix("old/"): text for name, text in witness.files if name.startswith("old/")}
        built = self._built("started", witness.program, files, witness.language)
        if not built.succeeded:
            return witness
        before, after = (told(self._workshop.start("started", self._installed(side))) for side in BOTH)
        commands = (witness.commands[0], *_starting())
        return witness if before == after else replace(witness, commands=commands, before=before, after=after)

    def snippet(self, source: Path) -> Witness:
        """What a source of the user's own prints with both releases, built against the old one."""
        language: Language = "c" if source.suffix == ".c" else "c++"
        program = self._whole(source.read_text(errors="replace"))
        made = Witness("", "", source.name, "none", "run", language=language, program=program)
        if reason := self.obstacle():
            return replace(made, reason=reason)
        built = self._built("snippet", program, {}, language)
        if not built.succeeded:
            said = built.error or "no compiler is installed"
            return replace(made, reason=f"does not build with the old release: {said}")
        before, after = (told(self._workshop.start("snippet", self._installed(side))) for side in BOTH)
        return replace(
            made,
            state="none" if before == after else "shown",
            reason="it prints the same with both releases" if before == after else "",
            declarations="headers",
            commands=(f"{_command(language)} -Iold {source.name} old/{self._soname('old')} -o program", *_starting()),
            before=before,
            after=after,
            compiler=found.version if (found := compiler(language)) else "",
        )

    def _whole(self, text: str) -> str:
        """A source as a program: what includes nothing includes the public headers, and what has no ``main`` is one."""
        headers = "" if _INCLUDE.search(text) else "".join(f'#include "{each}"\n' for each in self._headers())
        printing = "" if _INCLUDE.search(text) else "#include <stdio.h>\n"
        if _MAIN.search(text):
            return f"{printing}{headers}{text}"
        body = "".join(f"    {line}\n" for line in text.rstrip().splitlines())
        return f"{printing}{headers}\nint main(void) {{\n{body}    return 0;\n}}\n"

    def _headers(self) -> Iterator[str]:
        yield from self._sides["old"].headers

    def _built(self, stem: str, program: str, files: dict[str, str], language: Language) -> CommandResult:
        old = self._sides["old"]
        source = f"{stem}{SUFFIX[language]}"
        self._workshop.write({source: program, **{f"{stem}.d/{name}": text for name, text in files.items()}})
        compiled = self._workshop.compile(source, f"{stem}.o", [*old.flags, f"-I{stem}.d", "-O0"], language)
        if not compiled.succeeded:
            return compiled
        flags = ["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", f"-L{self._installed('old')}"]
        return self._workshop.link([f"{stem}.o", f"-l:{self._soname('old')}"], stem, language, flags)

    def _installed(self, side: str) -> Path:
        """A folder with one side's library, by its own SONAME and by the one that the old program asks for."""
        folder = self._workshop.folder / f"{side}.started"
        folder.mkdir(exist_ok=True)
        file = self._sides[side].file
        assert file is not None
        for name in {self._soname(side), self._soname("old")}:
            if not (folder / name).exists():
                shutil.copy(file, folder / name)
        return folder

    def _soname(self, side: str) -> str:
        release = self._sides[side]
        facts = release.snapshot.facts
        own = facts.name if isinstance(facts, Library) and facts.name else ""
        return own or (release.file.name if release.file else f"{SELF.spelling}.so")


def _starting() -> tuple[str, ...]:
    return tuple(f"LD_BIND_NOW=1 LD_LIBRARY_PATH={side} ./program" for side in BOTH)


def _command(language: Language) -> str:
    found = compiler(language)
    return found.command if found else {"c": "cc", "c++": "c++"}[language]


def told(result: CommandResult) -> str:
    """What a program printed, and how it ended if not well."""
    printed = result.printed
    if len(printed) > MOST_PRINTED:
        printed = f"{printed[:MOST_PRINTED]}\n... ({len(printed) - MOST_PRINTED:,} more characters)\n"
    return printed if result.succeeded else f"{printed}{result.error}\n"
