"""``witness``: programs that show breaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from abistore.arguments import Described, Operand
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, note, progress
from abistore.cli.reading_options import JudgingOptions, LineOptions, ReadingOptions, SideOptions
from abistore.cli.verbs import verb
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.model.witness import Witness
    from abistore.service.witnesses import Witnesses


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
    judging: JudgingOptions,
    sides: SideOptions,
    reading: ReadingOptions,
    line: LineOptions,
) -> None:
    """Show each break by a program that an old user could have written.

    A program is compiled with the declarations of OLD and of NEW: it prints what it was compiled with (sizes, offsets,
    values, vtable slots), or no longer compiles, links or loads. With headers (--header, --old-header) it includes
    them; else it includes the declarations that the snapshots record. Nothing of the libraries is started.

    FINDING is a finding's identity or its first digits, a kind, or a symbol; by default all breaks have a program.
    """
    from abistore.service.witnesses import witnesses

    with progress(settings) as advance:
        found = witnesses(
            old,
            new,
            findings=findings,
            database=settings.database,
            selection=reading.selection(sides, line, advance),
            by=judging.ruling(),
        )
    if output is not None:
        for each in found.witnesses:
            _write(each, output)
        note(settings, f"note: {counted(len(found.witnesses), 'program')} in {output}")
    answer(settings, {"witnesses": found}, lambda: "\n".join(_text(found)))


def _text(found: Witnesses) -> Iterator[str]:
    for each in found.witnesses:
        yield f"{each.kind}: {each.display}{f' {each.part}' if each.part else ''} [{each.finding[:12]}]"
        if each.state == "none":
            yield f"  no program shows it: {each.reason}\n"
            continue
        yield from (f"  | {line}" for line in each.program.rstrip().splitlines())
        for name, text in each.files:
            yield f"  {name}"
            yield from (f"  | {line}" for line in text.rstrip().splitlines())
        if each.state == "written":
            yield f"  not compiled: {each.reason}\n"
            continue
        yield from (f"  $ {command}" for command in each.commands)
        if each.reason:
            yield f"  {each.reason}"
        yield from _printed("before", each.before)
        yield from _printed("after", each.after)
        if each.state == "refuted":
            yield "  the program behaves the same: this finding may be a false alarm"
        yield ""
    shown = ", ".join(
        f"{number} {state}" for state in ("shown", "refuted", "written", "none") if (number := found.count(state))
    )
    yield f"{counted(len(found.witnesses), 'witness')}{f': {shown}' if shown else ''}"


def _printed(label: str, text: str) -> Iterator[str]:
    lines = text.rstrip().splitlines() or ["(nothing)"]
    yield f"  {label + ':':8}{lines[0]}"
    yield from (f"{'':10}{line}" for line in lines[1:])


def _write(witness: Witness, folder: Path) -> None:
    own = folder / witness.finding[:12]
    suffix = ".c" if witness.language == "c" else ".cpp"
    files = {f"witness{suffix}": witness.program, **dict(witness.files)}
    commands = "\n".join(["#!/bin/sh", f"# {witness.kind}: {witness.display}", *witness.commands])
    files["run.sh"] = f"{commands}\n"
    for name, text in files.items():
        path = own / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
