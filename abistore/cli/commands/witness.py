"""``witness``: programs that show breaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from abistore.arguments import Described, Operand
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, note, progress, write_file
from abistore.cli.reading_options import JudgingOptions, LineOptions, ReadingOptions, SideOptions
from abistore.cli.verbs import Options, verb
from abistore.errors import OutputError
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.report.model import Witness
    from abistore.service.witnesses import Witnesses


class StartingOptions(Options, frozen=True):
    """Whether anything of the libraries runs."""

    title: ClassVar[str] = "Running"
    run: Annotated[
        bool,
        Described(
            "Start programs with both libraries, whose constructors run: without a network, within limits, in a "
            "temporary folder.",
            main=True,
        ),
    ] = False
    snippet: Annotated[
        Path | None,
        Described(
            "With --run: also build this source, or body of main, against OLD, start it with both, and compare what it "
            "prints.",
            ("--with", "snippet"),
            metavar="FILE",
            main=True,
        ),
    ] = None


@verb("witness", gives={"witnesses": "service.witnesses:Witnesses"})
def witness_command(
    settings: SharedSettings,
    old: Operand,
    new: Operand,
    findings: Annotated[tuple[str, ...], Described(complete="finding", metavar="FINDING...")] = (),
    *,
    output: Annotated[
        Path | None,
        Described(
            "Write each program with its files and its commands into a folder of its own below this one.",
            ("-o", "--output", "output"),
            metavar="FOLDER",
            main=True,
        ),
    ] = None,
    starting: StartingOptions,
    judging: JudgingOptions,
    sides: SideOptions,
    reading: ReadingOptions,
    line: LineOptions,
) -> None:
    """Show each break by a program that an old user could have written.

    A program is compiled with the declarations of OLD and of NEW: it prints what it was compiled with (sizes, offsets,
    values, vtable slots), or no longer compiles, links or loads. With headers (--header, --old-header) it includes
    them; else it includes the declarations that the snapshots record. Nothing of the libraries is started without
    --run.

    FINDING is a finding's identity or its first digits, a kind, or a symbol; by default all breaks have a program.
    """
    from abistore.service.witnesses import WitnessPlan, witnesses

    with progress(settings) as advance:
        found = witnesses(
            old,
            new,
            findings=findings,
            database=settings.database,
            selection=reading.selection(sides, line, advance),
            by=judging.ruling(),
            plan=WitnessPlan(run=starting.run, snippet=starting.snippet),
        )
    if output is not None:
        for each in found.witnesses:
            _write(each, output)
        note(settings, f"note: {counted(len(found.witnesses), 'program')} in {output}")
    answer(settings, {"witnesses": found}, lambda: "\n".join(_text(found)))


def _text(found: Witnesses) -> Iterator[str]:
    from abistore.report.witnesses import witness_lines

    for each in found.witnesses:
        yield _heading(each)
        yield from (f"  {line}" for line in witness_lines(each))
        yield ""
    shown = ", ".join(
        f"{number} {state}" for state in ("shown", "refuted", "written", "none") if (number := found.count(state))
    )
    yield f"{counted(len(found.witnesses), 'witness', 'witnesses')}{f': {shown}' if shown else ''}"


def _heading(witness: Witness) -> str:
    if not witness.finding:
        return witness.display
    return f"{witness.kind}: {' '.join(filter(None, (witness.display, witness.part)))} [{witness.finding[:12]}]"


def _write(witness: Witness, folder: Path) -> None:
    own = folder / (witness.finding[:12] or Path(witness.display).stem)
    suffix = ".c" if witness.language == "c" else ".cpp"
    files = {f"witness{suffix}": witness.program, **dict(witness.files)}
    commands = "\n".join(["#!/bin/sh", f"# {_heading(witness)}", *witness.commands])
    files["run.sh"] = f"{commands}\n"
    for name, text in files.items():
        path = own / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{path.parent}: cannot be created: {error.strerror}", "name another folder") from error
        write_file(path, text.encode())
