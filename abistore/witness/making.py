"""Making the witness of a finding: which program, compiled with both releases, and what each printed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, Literal, NamedTuple

from abistore.model.declarations import SELF, Name
from abistore.model.names.qualified import demangle, entity, last_component
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import AnyShape, Function, Library, Named, Record, TypeRef, Variable
from abistore.model.snapshot import Snapshot
from abistore.model.witness import Witness, WitnessSort
from abistore.report.model import ReportedFinding
from abistore.witness import programs, uses
from abistore.witness.compilers import SUFFIX, CommandResult, Language, Workshop, compiler, is_native
from abistore.witness.declarations import SnapshotText, Unspellable
from abistore.witness.uses import Fact


class ReleaseSources(NamedTuple):
    """One side: its snapshot, its file where it is at hand, and its headers where they are.

    ``headers`` has the text of each by the name that programs include it by; ``flags`` are the compiler's.
    """

    snapshot: Snapshot
    file: Path | None = None
    headers: Mapping[str, str] = {}
    flags: tuple[str, ...] = ()


class Attempt(NamedTuple):
    """One program that was tried: whether it shows the finding, behaves the same, or was not made, and why."""

    sort: WitnessSort
    state: Literal["shown", "same", "written", "none"]
    reason: str = ""
    program: str = ""
    files: tuple[tuple[str, str], ...] = ()
    lines: tuple[int, ...] = ()
    commands: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


BOTH: Final = ("old", "new")

FEW: Final = 8
"""So many of the exports that a finding affects are asked for."""


NOTHING_DIFFERS: Final[Mapping[WitnessSort, str]] = {
    "layout": "sizes, offsets and values are the same",
    "link": "programs link with both libraries",
    "load": "programs load with both libraries",
    "source": "sources compile with both",
}
"""What a program says that shows nothing, and does not test what the finding claims."""


class Maker:
    """Makes witnesses of the findings between two releases, in one temporary folder."""

    def __init__(self, old: ReleaseSources, new: ReleaseSources, folder: Path) -> None:
        self._sides = {"old": old, "new": new}
        self._workshop = Workshop(folder)
        self._number = 0

    def witness(self, finding: ReportedFinding) -> Witness:
        """The witness of one finding."""
        asked = _Asked(finding, self._sides["old"], self._sides["new"])
        tried: list[Attempt] = []
        for sort in _order(finding):
            attempt = self._tried(sort, asked)
            tried.append(attempt)
            if attempt.state in ("shown", "written"):
                return asked.told(attempt, "shown" if attempt.state == "shown" else "written")
        refuting = next((each for each in tried if each.state == "same" and asked.is_claim(each.sort)), None)
        if refuting is not None:
            return asked.told(refuting, "refuted")
        reasons = dict.fromkeys(each.reason or NOTHING_DIFFERS[each.sort] for each in tried)
        return asked.told(Attempt(tried[0].sort, "none", "; ".join(reasons)), "none")

    def _tried(self, sort: WitnessSort, asked: _Asked) -> Attempt:
        try:
            match sort:
                case "layout":
                    return self._layout(asked)
                case "link":
                    return self._link(asked)
                case "load":
                    return self._load(asked)
                case _:
                    return self._source(asked)
        except Unspellable as error:
            return Attempt(sort, "none", str(error))

    def _layout(self, asked: _Asked) -> Attempt:
        if asked.old is None or asked.new is None:
            return Attempt("layout", "none", "only one release describes it")
        facts = asked.facts()
        if not facts:
            return Attempt("layout", "none", "programs have nothing of it compiled in")
        found: dict[str, dict[str, object]] = {}
        for side in BOTH:
            program = programs.layout_program(asked.includes(side), facts, c=asked.c)
            made, outcome = self._compiled(program, side, asked, "-fno-access-control" if not asked.c else "-O0")
            if not outcome.succeeded:
                return self._not_compiled("layout", outcome, program, side)
            found[side] = programs.values(self._workshop.folder / made, facts)
            if not asked.is_as_recorded(side, found[side]):
                return Attempt(
                    "layout", "none", "the compiler lays out the declaration of the snapshot differently", program
                )
        differing = [each for each in facts if found["old"].get(each.label) != found["new"].get(each.label)]
        binary = [each for each in differing if not each.sources]
        shown = binary or differing or facts[:1]
        return self._printed(asked, shown, found, "shown" if differing else "same")

    def _printed(
        self,
        asked: _Asked,
        shown: Sequence[Fact],
        found: dict[str, dict[str, object]],
        state: Literal["shown", "same"],
    ) -> Attempt:
        program = programs.layout_program(asked.includes("old"), shown, c=asked.c)
        before, after = ("".join(f"{each.label} = {found[side][each.label]}\n" for each in shown) for side in BOTH)
        lines = programs.lines_with(
            program, [f"{each.expression}{',' if each.sort == 'number' else ';'}" for each in shown]
        )
        name = f"witness{SUFFIX[asked.language]}"
        commands = tuple(
            f"{_command(asked.language)} {asked.flags_shown(side)}{name} -o {side} && ./{side}" for side in BOTH
        )
        sort: WitnessSort = "source" if all(each.sources for each in shown) else "layout"
        return Attempt(sort, state, "", program, asked.files(), lines, commands, before, after)

    def _source(self, asked: _Asked) -> Attempt:
        tried = [self._used(code, asked) for code in asked.uses()]
        for state in ("shown", "same"):
            if found := next((each for each in tried if each.state == state), None):
                return found
        return tried[0] if tried else Attempt("source", "none", "no source code names it")

    def _used(self, code: str, asked: _Asked) -> Attempt:
        program = programs.using_program(asked.includes("old"), code, c=asked.c)
        outcomes = {}
        for side in BOTH:
            text = programs.using_program(asked.includes(side), code, c=asked.c)
            _, outcomes[side] = self._compiled(text, side, asked)
            if side == "old" and not outcomes[side].succeeded:
                return self._not_compiled("source", outcomes[side], program, side)
        state: Literal["shown", "same"] = "same" if outcomes["new"].succeeded else "shown"
        name = f"witness{SUFFIX[asked.language]}"
        commands = tuple(f"{_command(asked.language)} -c {asked.flags_shown(side)}{name}" for side in BOTH)
        after = outcomes["new"].error or "compiles\n"
        lines = programs.lines_with(program, [code.partition("\n")[0]])
        return Attempt("source", state, "", program, asked.files(), lines, commands, "compiles\n", after)

    def _link(self, asked: _Asked) -> Attempt:
        if any(self._sides[each].file is None for each in BOTH):
            return Attempt("link", "none", "linking needs the files of both releases")
        made, program, outcome = self._linkable(asked)
        if not outcome.succeeded:
            return self._not_compiled("link", outcome, program, "old")
        outcomes = {side: self._linked(made, side, asked) for side in BOTH}
        if not outcomes["old"].succeeded:
            return Attempt("link", "none", f"does not link with the old library: {outcomes['old'].error}", program)
        name = f"witness{SUFFIX[asked.language]}"
        commands = tuple(
            f"{_command(asked.language)} {asked.flags_shown('old')}{name} {side}/{asked.soname(side)} -o program"
            for side in BOTH
        )
        return self._asked_of(program, asked, outcomes["new"], "link", commands)

    def _linkable(self, asked: _Asked, *flags: str) -> tuple[str, str, CommandResult]:
        """An object file that asks for the exports of a finding: by their declaration, where one compiles."""
        for code, includes in asked.references():
            program = programs.using_program(includes, code, c=asked.c)
            made, outcome = self._compiled(program, "old", asked, *flags)
            if outcome.succeeded:
                break
        return made, program, outcome

    def _linked(self, made: str, side: str, asked: _Asked) -> CommandResult:
        file = self._sides[side].file
        assert file is not None
        allowed = "-Wl,--allow-shlib-undefined"  # what the library itself asks for is another matter
        return self._workshop.link([made, file.absolute()], f"{made}.{side}", asked.language, [allowed])

    def _asked_of(
        self,
        program: str,
        asked: _Asked,
        after: CommandResult,
        sort: Literal["link", "load"],
        commands: tuple[str, ...],
    ) -> Attempt:
        state: Literal["shown", "same"] = "same" if after.succeeded else "shown"
        lines = programs.lines_with(program, ["use(", "__asm__"])
        told = after.error or f"{sort}s\n"
        return Attempt(sort, state, "", program, asked.files(), lines, commands, f"{sort}s\n", told)

    def _load(self, asked: _Asked) -> Attempt:
        if any(self._sides[each].file is None for each in BOTH):
            return Attempt("load", "none", "loading needs the files of both releases")
        if not is_native(asked.target):
            return Attempt("load", "none", "programs for its platform do not start here")
        made, program, outcome = self._linkable(asked, "-fno-pie")
        if not outcome.succeeded:
            return self._not_compiled("load", outcome, program, "old")
        folders = {side: self._installed(side, asked) for side in BOTH}
        started = f"{made}.program"
        flags = ["-no-pie", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", f"-L{folders['old']}"]
        linked = self._workshop.link([made, f"-l:{asked.soname('old')}"], started, asked.language, flags)
        if not linked.succeeded:
            return Attempt("load", "none", f"does not link with the old library: {linked.error}", program)
        outcomes = {side: self._workshop.resolve(started, folders[side]) for side in BOTH}
        if not outcomes["old"].succeeded:
            return Attempt("load", "none", f"does not load with the old library: {outcomes['old'].error}", program)
        name = f"witness{SUFFIX[asked.language]}"
        commands = (
            f"{_command(asked.language)} {asked.flags_shown('old')}{name} old/{asked.soname('old')} -o program",
            "LD_LIBRARY_PATH=old ldd -r program",
            "LD_LIBRARY_PATH=new ldd -r program",
        )
        return self._asked_of(program, asked, outcomes["new"], "load", commands)

    def _installed(self, side: str, asked: _Asked) -> Path:
        """A folder with the library of one side, as it is installed: by its SONAME, or by the one that is asked for."""
        folder = self._workshop.folder / f"{side}.library"
        folder.mkdir(exist_ok=True)
        file = self._sides[side].file
        assert file is not None
        names = {asked.soname(side)} if asked.name == SELF else {asked.soname(side), asked.soname("old")}
        for name in names:
            if not (folder / name).exists():
                shutil.copy(file, folder / name)
        return folder

    def _compiled(self, program: str, side: str, asked: _Asked, *flags: str) -> tuple[str, CommandResult]:
        self._number += 1
        stem = f"w{self._number}"
        source = f"{stem}{SUFFIX[asked.language]}"
        self._workshop.write({source: program, **{f"{stem}.d/{name}": text for name, text in asked.files_of(side)}})
        every = [*asked.flags(side), f"-I{stem}.d", "-O0", "-fdata-sections", *flags]
        return f"{stem}.o", self._workshop.compile(source, f"{stem}.o", every, asked.language)

    def _not_compiled(self, sort: WitnessSort, outcome: CommandResult, program: str, side: str) -> Attempt:
        if not outcome.error:
            return Attempt(sort, "written", "no compiler is installed: the program was not compiled", program)
        return Attempt(sort, "none", f"does not compile with the {side} declarations: {outcome.error}", program)


def _order(finding: ReportedFinding) -> tuple[WitnessSort, ...]:
    """The sorts that may show a finding, the likeliest first."""
    if finding.subject == "library":
        return ("link", "load")
    if finding.facet == "symbol" and finding.subject in ("function", "variable"):
        return ("link", "load", "layout", "source")
    if finding.impact == "api_break":
        return ("source", "layout", "link")
    return ("layout", "source", "link") if finding.subject != "function" else ("layout", "link", "source")


class _Asked:
    """A finding, and how programs about it are written."""

    def __init__(self, finding: ReportedFinding, old: ReleaseSources, new: ReleaseSources) -> None:
        self._finding = finding
        self._sides = {"old": old, "new": new}
        self.name = Name(finding.subject, finding.symbol)
        self.c = _is_c(old.snapshot, self.name)
        self.language: Language = "c" if self.c else "c++"
        self.old, self.new = (_shape(each.snapshot, self.name) for each in (old, new))
        self.target = old.snapshot.target
        self._texts: dict[str, str] = {}

    def facts(self) -> list[Fact]:
        """What programs of both releases have compiled in of the declaration."""
        name = self.name
        of = {side: list(self._facts(name, side)) for side in BOTH}
        known = {each.label for each in of["new"]}
        kept = [each for each in of["old"] if each.label in known or " has type " in each.label]
        return list(dict.fromkeys(kept))

    def is_as_recorded(self, side: str, found: Mapping[str, object]) -> bool:
        """Whether what the snapshot spells is laid out as the library's own declarations were."""
        shape = _shape(self._sides[side].snapshot, self.name)
        if not isinstance(shape, Record) or self._sides[side].headers:
            return True
        return found.get(f"sizeof({self._spell(Named(self.name))})", shape.size) == shape.size

    def is_claim(self, sort: WitnessSort) -> bool:
        """Whether a program of this sort tests just what the finding claims: what was removed, or has another value."""
        finding = self._finding
        if finding.new_value is None and finding.old_value is not None:
            is_export = finding.facet == "symbol" and finding.subject in ("function", "variable")
            return sort == "link" if is_export else sort == "source"
        return sort == "layout" and finding.subject == "enum" and bool(finding.part)

    def _facts(self, name: Name, side: str) -> Iterator[Fact]:
        snapshot = self._sides[side].snapshot
        shape = _shape(snapshot, name)
        return uses.facts(name, shape, partial(_shape, snapshot), self._spell, c=self.c) if shape else iter(())

    def uses(self) -> Iterator[str]:
        """Codes that name the declaration, or the part of it that the finding is about."""
        return uses.use(self.name, self._finding.part, self.old, self._spell, c=self.c)

    def references(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Codes that ask for the exports of the finding, with the headers that they include; the last one compiles."""
        if self.name.kind in ("function", "variable"):
            with suppress(Unspellable):
                self.files_of("old")
                for code in self.uses() if isinstance(self.old, Function | Variable) else ():
                    yield code, self.includes("old")
            yield uses.symbols_use((self.name.spelling,)), ()
            return
        yield uses.symbols_use(self._finding.affected[:FEW]), ()

    def _spell(self, type: TypeRef, name: str = "") -> str:
        release = self._sides["old"]
        return SnapshotText(release.snapshot, c=self.c, has_tag=self._has_tag).type(type, name)

    def _has_tag(self, name: Name) -> bool:
        """Whether a type of C is declared with a tag, and not by a ``typedef`` alone."""
        headers = self._sides["old"].headers
        tagged = re.compile(rf"\b(?:struct|union|enum)\s+{re.escape(name.spelling)}\b")
        return not headers or any(tagged.search(text) for text in headers.values())

    def includes(self, side: str) -> tuple[str, ...]:
        """The headers that a program includes: those that have the declaration's name, else all."""
        headers = self._sides[side].headers
        if not headers:
            return ("declarations.h",)
        word = re.compile(rf"\b{re.escape(_word(self.name))}\b")
        return tuple(each for each, text in headers.items() if word.search(text)) or tuple(headers)

    def files_of(self, side: str) -> tuple[tuple[str, str], ...]:
        """The files that one side's program needs beside it: what the snapshot spells, where no headers were given."""
        release = self._sides[side]
        if release.headers or self.name == SELF:
            return ()
        if side not in self._texts:
            self._texts[side] = self._spelled(release.snapshot)
        return (("declarations.h", self._texts[side]),)

    def _spelled(self, snapshot: Snapshot) -> str:
        shape = _shape(snapshot, self.name)
        text = SnapshotText(snapshot, c=self.c)
        if isinstance(shape, Function) and shape.method is not None:
            types = [shape.result, *shape.parameters]
            needed = [each.name for each in map(_bare, types) if each is not None]
            return text.of([*needed, shape.method.owner], [(self.name, shape)])
        return text.of([self.name] if shape is not None else [])

    def files(self) -> tuple[tuple[str, str], ...]:
        """The files of both sides, by the names that the commands use."""
        return tuple((f"{side}/{name}", text) for side in BOTH for name, text in self.files_of(side))

    def flags(self, side: str) -> tuple[str, ...]:
        """What the compiler is told of one side's headers."""
        return self._sides[side].flags

    def flags_shown(self, side: str) -> str:
        """The same as people type it."""
        return f"-I{side} "

    def soname(self, side: str) -> str:
        """What programs ask for that are linked with one side."""
        release = self._sides[side]
        facts = release.snapshot.facts
        own = facts.name if isinstance(facts, Library) and facts.name else ""
        return own or (release.file.name if release.file else f"{release.snapshot.library}.so")

    def told(self, attempt: Attempt, state: Literal["shown", "refuted", "written", "none"]) -> Witness:
        """The attempt as the witness of the finding."""
        finding = self._finding
        found = compiler(self.language) if attempt.before else None
        return Witness(
            finding=finding.id,
            kind=finding.kind,
            display=finding.display,
            part=finding.part,
            state=state,
            sort=None if state == "none" else attempt.sort,
            reason=attempt.reason,
            language=self.language,
            declarations="" if state == "none" else "headers" if self._sides["old"].headers else "snapshot",
            program=attempt.program,
            files=attempt.files,
            lines=attempt.lines,
            commands=attempt.commands,
            before=attempt.before,
            after=attempt.after,
            compiler=found.version if found else "",
        )


def _bare(type: TypeRef) -> Named | None:
    while hasattr(type, "target"):
        type = type.target
    return type if isinstance(type, Named) else None


def _shape(snapshot: Snapshot, name: Name) -> AnyShape | None:
    return next((*snapshot.described(name), *snapshot.variants("source", name)).__iter__(), None)


def _is_c(snapshot: Snapshot, name: Name) -> bool:
    languages = snapshot.provenance.languages
    if languages:
        return not any("+" in each for each in languages)
    return (
        not any(is_mangled(each.spelling) for each in snapshot.entries.get("symbol", {})) and "::" not in name.spelling
    )


def _word(name: Name) -> str:
    """What sources call a declaration: its name without scope and template arguments."""
    plain = demangle(name.spelling) if is_mangled(name.spelling) else name.spelling
    return last_component(entity(plain).partition("<")[0]).lstrip("~")


def _command(language: Language) -> str:
    found = compiler(language)
    return found.command if found else {"c": "cc", "c++": "c++"}[language]
