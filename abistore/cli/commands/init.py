"""``init``: the first file of a project, and a demonstration without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from abistore.arguments import Described, DryRun
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, note, progress
from abistore.cli.verbs import verb
from abistore.errors import UsageError
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.service.demo import Demonstration
    from abistore.service.init import InitialisedProject
    from abistore.service.project import NextCommand
    from abistore.service.public_headers import ProjectHeaders

MOST_SHOWN = 3
"""So many headers are named; the file has all."""


@verb("init", store=False, gives=({"project": "service.init:init"}, {"demo": "service.demo:demo"}))
def init_command(
    settings: SharedSettings,
    folder: Annotated[Path | None, Described(metavar="[FOLDER]", complete="file")] = None,
    *,
    demo: Annotated[
        bool,
        Described("Build and compare two releases of a small library in FOLDER, by default abistore-demo."),
    ] = False,
    build_dir: Annotated[
        tuple[Path, ...],
        Described("Also search this build folder, outside the project. May be repeated.", metavar="FOLDER"),
    ] = (),
    replace: Annotated[bool, Described("Replace an existing abistore.toml.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Write abistore.toml for the project in FOLDER, and show the next commands.

    FOLDER is by default the root of the git checkout around the current folder, or the current folder.

    Finds the shared libraries that are built, the public headers that CMake, Meson, Automake or a Makefile installs,
    and the newest release in git's tags. Comments in the file say where each was found.

    With --demo, no project is needed: two releases of a small library are compiled, stored and compared.

    \b
    abistore init
    abistore init --demo
    """
    if demo:
        if build_dir or replace or dry_run:
            raise UsageError("--demo takes no other option of init", "abistore init --demo [FOLDER]")
        _show_demo(settings, folder)
        return
    from abistore.service.init import init

    found = init(folder, build_dirs=build_dir, replace=replace, dry_run=dry_run)
    answer(settings, {"project": found}, lambda: "\n".join(_project(found)))
    for each in found.notes:
        note(settings, each, "note")


def _project(found: InitialisedProject) -> Iterator[str]:
    yield f"wrote {found.file}" if found.written else f"{found.text}\nwould write {found.file}"
    for each in found.libraries:
        by = f", installed by {each.installed_by}" if each.installed_by else ""
        yield f"library   {each.name}: {each.path}{by}"
    for one in found.headers:
        yield f"headers   {_headers(one)}: {one.found_by}"
    yield f"version   {found.version}: {f'from {found.version_from}' if found.version_from else 'nothing names one'}"
    yield from ("", "Next:", *_commands(found.commands))


def _headers(one: ProjectHeaders) -> str:
    shown = ", ".join(one.headers[:MOST_SHOWN])
    more = len(one.headers) - MOST_SHOWN
    return f"{shown} and {counted(more, 'other')}" if more > 0 else shown


def _commands(commands: Sequence[NextCommand]) -> Iterator[str]:
    """Command lines as they may be copied, each with its purpose behind it if that fits."""
    width = max(len(each.command) for each in commands if each.purpose)
    for each in commands:
        yield f"  {each.command.ljust(width)}  # {each.purpose}" if each.purpose else f"  {each.command}"


def _show_demo(settings: SharedSettings, folder: Path | None) -> None:
    from abistore.service.demo import FOLDER, demo

    with progress(settings):
        shown = demo(folder or FOLDER)
    answer(settings, {"demo": shown}, lambda: "\n".join(_demo(settings, shown)))


def _demo(settings: SharedSettings, shown: Demonstration) -> Iterator[str]:
    from abistore.cli.rendering import style_of
    from abistore.report import render

    how = "compiled and stored" if shown.compiled else "stored from snapshots (no C compiler found)"
    yield f"Two releases of a small library, {how} in {shown.database}."
    yield "The second one inserts a field into a struct of the public header:\n"
    without_advice = msgspec.structs.replace(shown.report, advice=())  # which the first lines say, to fit a screen
    yield render(without_advice, "text", style_of(settings, False))
    yield "\nNext (in a project of your own: abistore init):"
    yield from _commands(shown.commands)
