"""Making the witness of a finding: which program, compiled with both releases, and what each printed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from abistore.model.declarations import SELF
from abistore.report.model import ReportedFinding, Witness, WitnessSort
from abistore.witness import programs
from abistore.witness.compilers import SUFFIX, CommandResult, Workshop, command_of, is_native
from abistore.witness.declarations import Unspellable
from abistore.witness.facts import OWN, Fact
from abistore.witness.query import BOTH, Attempt, Query, ReleaseSources
from abistore.witness.uses import UserCode

_Way: TypeAlias = Literal["facts", "code", "source", "link", "load"]

SORTS: Final[dict[_Way, WitnessSort]] = {
    **{"facts": "layout", "code": "layout", "source": "source"},
    **{"link": "link", "load": "load"},
}

NOTHING_DIFFERS: Final[dict[_Way, str]] = {
    "facts": "sizes, offsets and values are the same",
    "code": "compilers make the same code of its uses",
    "link": "programs link with both libraries",
    "load": "programs load with both libraries",
    "source": "sources compile with both",
}
"""What a program says that shows nothing, and does not test what the finding claims."""

ANY_ACCESS: Final = "-fno-access-control"
"""Programs have sizes and offsets of private members too, which they cannot name."""

MOST_USES: Final = 40
"""So many codes that name one declaration are tried."""

MOST_SHOWN: Final = 6
"""So many instructions of each side are shown where they differ."""

ROUNDS: Final = 3
"""How often facts are left out that a side does not compile."""


class _Checked(NamedTuple):
    """A use, and the first error of each side's compiler; ``None`` where it compiles."""

    use: UserCode
    old: str | None
    new: str | None


class Maker:
    """Makes witnesses of the findings between two releases, in one temporary folder."""

    def __init__(self, old: ReleaseSources, new: ReleaseSources, folder: Path) -> None:
        self._sides = {"old": old, "new": new}
        self._workshop = Workshop(folder, old.snapshot.target)
        self._made: dict[tuple[object, ...], tuple[str, CommandResult]] = {}
        self._stubs: dict[str, Path | None] = {}
        self._checks: tuple[Query, tuple[_Checked, ...]] | None = None

    def witness(self, finding: ReportedFinding) -> Witness:
        """The witness of one finding."""
        asked = Query(finding, self._sides["old"], self._sides["new"])
        tried: list[tuple[_Way, Attempt]] = []
        for way in _order(finding):
            attempt = self._tried(way, asked)
            tried.append((way, attempt))
            if attempt.state in ("shown", "written"):
                return asked.answered(attempt, "shown" if attempt.state == "shown" else "written")
        for way, attempt in tried:
            if attempt.state == "same" and way != "code" and asked.is_claim(attempt.sort):
                return asked.answered(attempt, "refuted")
        reasons = dict.fromkeys(each.reason if each.state == "none" else NOTHING_DIFFERS[way] for way, each in tried)
        return asked.answered(Attempt(SORTS[tried[0][0]], "none", "; ".join(reasons)), "none")

    def _tried(self, way: _Way, asked: Query) -> Attempt:
        try:
            match way:
                case "facts":
                    return self._facts(asked)
                case "code":
                    return self._code(asked)
                case "link":
                    return self._link(asked)
                case "load":
                    return self._load(asked)
                case "source":
                    return self._source(asked)
        except Unspellable as error:
            return Attempt(SORTS[way], "none", str(error))

    # facts

    def _facts(self, asked: Query) -> Attempt:
        if asked.old is None or (asked.new is None and not self._sides["new"].headers):
            return Attempt("layout", "none", "only one release describes it")
        facts = asked.facts()
        if not facts:
            return Attempt("layout", "none", "programs have nothing of it compiled in")
        found: dict[str, dict[str, object]] = {}
        for side in BOTH:
            facts, made, program, outcome = self._compiled_facts(facts, side, asked)
            if not outcome.succeeded:
                return self._not_compiled("layout", outcome, program, side)
            found[side] = programs.values(self._workshop.folder / made, facts)
            if not asked.is_as_recorded(side, found[side]):
                reason = "the compiler lays out the declaration of the snapshot differently"
                return Attempt("layout", "none", reason, program)
        if not facts:
            return Attempt("layout", "none", "nothing of it compiles with both")
        differing = [each for each in facts if _differs(each, found["old"][each.label], found["new"][each.label])]
        binary = [each for each in differing if not each.sources]
        shown = [each for each in binary if not each.needs] or binary or differing or facts[:1]
        return self._printed(asked, shown, found, "shown" if differing else "same")

    def _compiled_facts(self, facts: list[Fact], side: str, asked: Query) -> tuple[list[Fact], str, str, CommandResult]:
        """The object file of the facts that one side compiles."""
        flag = "-O0" if asked.c else ANY_ACCESS
        for _ in range(ROUNDS):
            program = programs.layout_program(asked.includes(side), facts, c=asked.c)
            made, outcome = self._compiled(program, side, asked, flag)
            wrong = programs.faulty(program, facts, outcome.faults)
            if outcome.succeeded or not wrong or len(wrong) == len(facts):
                break
            facts = [each for each in facts if each not in wrong]
        return facts, made, program, outcome

    def _printed(
        self,
        asked: Query,
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
        private = "" if asked.c or not any(each.label.startswith("offsetof") for each in shown) else ANY_ACCESS + " "
        compiling = f"{_command(asked)} {private}"
        commands = tuple(f"{compiling}{asked.flags_shown(side)}{name} -o {side} && ./{side}" for side in BOTH)
        sort: WitnessSort = "source" if all(each.sources for each in shown) else "layout"
        return Attempt(sort, state, "", program, asked.files(), lines, commands, before, after)

    # uses

    def _source(self, asked: Query) -> Attempt:
        checked = self._checked(asked)
        if not checked:
            return Attempt("source", "none", "no source code names it")
        for each in checked:
            if each.old is None and each.new is not None:
                return self._used(each, asked, "shown")
        for each in checked:
            if each.old is None and each.new is None and each.use.names:
                return self._used(each, asked, "same")
        if checked[0].old is None:
            return Attempt("source", "none", NOTHING_DIFFERS["source"])
        if checked[0].old == "":
            program = programs.using_program(asked.includes("old"), checked[0].use.code, c=asked.c)
            return self._not_compiled("source", CommandResult(False), program, "old")
        return Attempt("source", "none", f"does not compile with the old declarations: {checked[0].old}")

    def _used(self, checked: _Checked, asked: Query, state: Literal["shown", "same"]) -> Attempt:
        use = checked.use
        program = programs.using_program(asked.includes("old", use), use.code, c=asked.c)
        strict = [each for each in asked.strict if each in (checked.new or "")]
        commands = tuple(f"{self._compiling(asked, use, side, strict)}-c {_name(asked)}" for side in BOTH)
        lines = programs.lines_with(program, use.code.splitlines()[:1] or [f'"{each}"' for each in use.includes or ()])
        after = checked.new or "compiles\n"
        return Attempt("source", state, "", program, asked.files(), lines, commands, "compiles\n", after)

    def _compiling(self, asked: Query, use: UserCode, side: str, strict: Iterable[str] = ()) -> str:
        flags = "".join(f"{each} " for each in (*strict, *use.flags))
        return f"{_command(asked)} {flags}{asked.flags_shown(side)}"

    def _checked(self, asked: Query) -> tuple[_Checked, ...]:
        """All uses of a declaration, compiled with both sides: one run of the compiler for each side and its flags."""
        if self._checks is None or self._checks[0] is not asked:
            uses = list(dict.fromkeys(asked.uses()))[:MOST_USES]
            found: dict[UserCode, _Checked] = {}
            for group in _grouped(uses):
                old = self._errors(group, "old", asked)
                kept = [each for each in group if old[each] is None]
                new = self._errors(kept, "new", asked) if kept else {}
                found |= {each: _Checked(each, old[each], new.get(each)) for each in group}
            self._checks = asked, tuple(found[each] for each in uses)
        return self._checks[1]

    def _errors(self, uses: Sequence[UserCode], side: str, asked: Query) -> dict[UserCode, str | None]:
        _, outcome, places = self._compiled_uses(uses, side, asked, ".o" if uses[0].flags else "")
        if outcome.succeeded:
            return dict.fromkeys(uses)
        within = [next((outcome.faults[line] for line in place if line in outcome.faults), None) for place in places]
        if outcome.faults.keys() - {line for place in places for line in place} or not outcome.faults:
            return {each: error or outcome.error for each, error in zip(uses, within, strict=True)}
        return dict(zip(uses, within, strict=True))

    def _compiled_uses(
        self, uses: Sequence[UserCode], side: str, asked: Query, suffix: str
    ) -> tuple[str, CommandResult, list[range]]:
        headers = asked.includes(side, uses[0])
        source, places = programs.all_uses(headers, [each.code for each in uses])
        return *self._compiled(source, side, asked, *asked.strict, *uses[0].flags, suffix=suffix), places

    def _code(self, asked: Query) -> Attempt:
        """The first use of which compilers make other code."""
        both = [each.use for each in self._checked(asked) if each.old is None and each.new is None and each.use.code]
        if not both:
            return Attempt("layout", "none", "no code that uses it compiles with both")
        for group in _grouped(both):
            listings: dict[str, dict[int, list[str]]] = {}
            for side in BOTH:
                made, outcome, _ = self._compiled_uses(group, side, asked, ".s")
                if not outcome.succeeded:
                    break
                listings[side] = programs.instructions((self._workshop.folder / made).read_text())
            for number, use in enumerate(group):
                old, new = (listings.get(side, {}).get(number, []) for side in BOTH)
                if old != new and len(listings) == 2:
                    return self._instructions(use, old, new, asked)
        return Attempt("layout", "same")

    def _instructions(self, use: UserCode, old: list[str], new: list[str], asked: Query) -> Attempt:
        program = programs.using_program(asked.includes("old", use), use.code, c=asked.c)
        commands = tuple(f"{self._compiling(asked, use, side)}-O1 -S {_name(asked)} -o {side}.s" for side in BOTH)
        lines = programs.lines_with(program, use.code.splitlines()[:1])
        before, after = _differing(old, new)
        return Attempt("layout", "shown", "", program, asked.files(), lines, commands, before, after)

    # linking and loading

    def _link(self, asked: Query) -> Attempt:
        if not asked.symbols():
            return Attempt("link", "none", "the library exports nothing of it")
        if not all(self._library(each, asked) for each in BOTH):
            return Attempt("link", "none", "linking needs the files of both releases")
        made, program, outcome = self._linkable(asked)
        if not outcome.succeeded:
            return self._not_compiled("link", outcome, program, "old")
        outcomes = {side: self._linked(made, side, asked) for side in BOTH}
        if not outcomes["old"].succeeded:
            return Attempt("link", "none", f"does not link with the old library: {outcomes['old'].error}", program)
        linking = f"{_command(asked)} {asked.flags_shown('old')}{_name(asked)}"
        commands = tuple(f"{linking} {side}/{asked.soname(side)} -o program" for side in BOTH)
        return self._asked_of(program, asked, outcomes["new"], "link", commands)

    def _library(self, side: str, asked: Query) -> Path | None:
        """The library of one side, or one with the exports that the snapshot records; ``None`` where none is made."""
        release = self._sides[side]
        if release.file is not None:
            return release.file
        if side not in self._stubs:
            self._stubs[side] = self._stub(side, asked) if is_native(release.snapshot.target) else None
        return self._stubs[side]

    def _stub(self, side: str, asked: Query) -> Path | None:
        assembly, script = programs.stub_library(self._sides[side].snapshot)
        if not assembly:
            return None
        folder = f"{side}.stub"
        made = f"{folder}/{asked.soname(side)}"
        self._workshop.write({f"{folder}/stub.s": assembly, f"{folder}/stub.map": script})
        flags = ["-shared", "-nostdlib", f"-Wl,-soname,{asked.soname(side)}", f"-Wl,--version-script={folder}/stub.map"]
        linked = self._workshop.link([f"{folder}/stub.s"], made, "c", flags)
        return self._workshop.folder / made if linked.succeeded else None

    def _linkable(self, asked: Query) -> tuple[str, str, CommandResult]:
        """An object file that asks for the exports of a finding: by their declaration, where one compiles."""
        for code, includes in asked.references():
            program = programs.using_program(includes, code, c=asked.c)
            made, outcome = self._compiled(program, "old", asked, "-fno-pie")
            if outcome.succeeded and programs.asks_for(self._workshop.folder / made, asked.symbols()):
                break
        return made, program, outcome

    def _linked(self, made: str, side: str, asked: Query) -> CommandResult:
        file = self._library(side, asked)
        assert file is not None
        allowed = "-Wl,--allow-shlib-undefined"  # what the library itself asks for is another matter
        return self._workshop.link([made, file.absolute()], f"{made}.{side}", asked.language, ["-no-pie", allowed])

    def _asked_of(
        self,
        program: str,
        asked: Query,
        after: CommandResult,
        sort: Literal["link", "load"],
        commands: tuple[str, ...],
    ) -> Attempt:
        state: Literal["shown", "same"] = "same" if after.succeeded else "shown"
        lines = programs.lines_with(program, [f"{OWN}(", "__asm__"])
        found = after.error or f"{sort}s\n"
        is_stub = any(release.file is None for release in self._sides.values())
        reason = "the libraries are made of the exports that the snapshots record" if is_stub else ""
        return Attempt(sort, state, reason, program, asked.files(), lines, commands, f"{sort}s\n", found)

    def _load(self, asked: Query) -> Attempt:
        if not asked.symbols() and asked.export != SELF:
            return Attempt("load", "none", "the library exports nothing of it")
        if not all(self._library(each, asked) for each in BOTH):
            return Attempt("load", "none", "loading needs the files of both releases")
        if not is_native(asked.target):
            return Attempt("load", "none", "programs for its platform do not start here")
        made, program, outcome = self._linkable(asked)
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
        commands = (
            f"{_command(asked)} {asked.flags_shown('old')}{_name(asked)} old/{asked.soname('old')} -o program",
            "LD_LIBRARY_PATH=old ldd -r program",
            "LD_LIBRARY_PATH=new ldd -r program",
        )
        return self._asked_of(program, asked, outcomes["new"], "load", commands)

    def _installed(self, side: str, asked: Query) -> Path:
        """A folder with the library of one side, as it is installed: by its SONAME, or by the one that is asked for."""
        folder = self._workshop.folder / f"{side}.library"
        folder.mkdir(exist_ok=True)
        file = self._library(side, asked)
        assert file is not None
        names = {asked.soname(side)} if asked.name == SELF else {asked.soname(side), asked.soname("old")}
        for name in names:
            if not (folder / name).exists():
                shutil.copy(file, folder / name)
        return folder

    # compiling

    def _compiled(
        self, program: str, side: str, asked: Query, *flags: str, suffix: str = ".o"
    ) -> tuple[str, CommandResult]:
        given = ("-O1" if suffix == ".s" else "-O0", *asked.flags(side), "-fdata-sections", *flags)
        files = asked.files_of(side)
        key = program, files, given, suffix, asked.language
        if key not in self._made:
            stem = f"w{len(self._made)}"
            source = f"{stem}{SUFFIX[asked.language]}"
            self._workshop.write({source: program, **{f"{stem}.d/{name}": text for name, text in files}})
            made = f"{stem}{suffix}" if suffix else ""
            self._made[key] = made, self._workshop.compile(source, made, [*given, f"-I{stem}.d"], asked.language)
        return self._made[key]

    def _not_compiled(self, sort: WitnessSort, outcome: CommandResult, program: str, side: str) -> Attempt:
        if not outcome.error:
            return Attempt(
                sort, "written", "no compiler for its platform is installed: the program was not compiled", program
            )
        return Attempt(sort, "none", f"does not compile with the {side} declarations: {outcome.error}", program)


def _order(finding: ReportedFinding) -> tuple[_Way, ...]:
    """The ways that may show a finding, the likeliest first."""
    if finding.subject == "library":
        return ("source", "link", "load")
    if finding.facet == "symbol" and finding.subject in ("function", "variable"):
        return ("link", "load", "facts", "source", "code")
    if finding.impact == "api_break":
        return ("source", "facts", "link", "code")
    if finding.subject == "function":
        return ("facts", "link", "source", "code")
    return ("facts", "source", "link", "code")


def _grouped(uses: Iterable[UserCode]) -> Iterator[list[UserCode]]:
    """Uses that one run of the compiler takes."""

    def way(use: UserCode) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return use.includes or (), use.flags

    yield from (list(group) for _, group in groupby(sorted(uses, key=way), key=way))


def _differs(fact: Fact, old: object, new: object) -> bool:
    """Whether a program has something else compiled in, or no longer compiles; one that may do more does not."""
    return old != new and not (fact.sources and (old, new) == (0, 1))


def _differing(old: list[str], new: list[str]) -> tuple[str, str]:
    """The instructions in which two lists differ."""
    removed, added = [], []
    for tag, first, last, start, end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[first:last]
            added += new[start:end]
    return _listed(removed), _listed(added)


def _listed(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines[:MOST_SHOWN]) or "(nothing)\n"


def _name(asked: Query) -> str:
    return f"witness{SUFFIX[asked.language]}"


def _command(asked: Query) -> str:
    return command_of(asked.language, asked.target)
