"""``abi_witness``: programs that show breaks, on servers that may start compilers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from abistore.interface import ExtractOptions, Selection, Witness, WitnessPlan, witnesses
from abistore.mcp.answers import Answer, NextCall, asking, brief, fitting
from abistore.mcp.operands import Call, operand, ruling_of
from abistore.mcp.tools.comparing import headers_of_sides
from abistore.mcp.tools.declaration import (
    Folders,
    Headers,
    Language,
    Limit,
    Line,
    Operand,
    Policy,
    described,
    tool,
)
from abistore.model.words import counted

USUAL = 5
"""So many breaks have a program where a call names none."""

BUDGET = 4_000


class ProgramItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A program about one finding, whole, with its files by name and the commands that build and start it.

    ``state`` is ``shown``, ``refuted`` (it behaves the same: perhaps a false alarm), ``written`` (not compiled) or
    ``none`` (``reason`` says why there is no program). ``lines`` are those of the program that matter, from 1. ``sort``
    says what it proves. ``before`` and ``after`` are what the program, the compiler or the dynamic linker said of each
    release.
    """

    finding: str
    kind: str
    name: str
    state: str
    sort: str = ""
    reason: str = ""
    declarations: str = ""
    program: str = ""
    lines: tuple[int, ...] = ()
    files: dict[str, str] = {}
    commands: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    compiler: str = ""


class WitnessAnswer(Answer, frozen=True, kw_only=True):
    """Programs about breaks, in the order of the report; ``left_out`` breaks have none here."""

    items: tuple[ProgramItem, ...]
    total: int
    left_out: int
    next: tuple[NextCall, ...] = ()


@tool("Show breaks by programs")
def abi_witness(
    call: Call,
    *,
    old_input: Operand,
    new_input: Operand,
    findings: Annotated[list[str] | None, described("Identities or kinds; else the worst breaks")] = None,
    headers: Headers = None,
    old_headers: Headers = None,
    new_headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
    line: Line = None,
    policy: Policy = "strict_abi",
    limit: Limit = None,
) -> WitnessAnswer:
    """Show each break by the smallest program that an old user could have written, compiled with both releases.

    Use it for "prove it": what a program is compiled with, or what the compiler or the dynamic linker says. Nothing of
    the libraries is started. Example: old_input="libfoo@1.2", new_input="/ci/libfoo.so".
    """
    old, new = operand(call.settings, old_input, "old_input"), operand(call.settings, new_input, "new_input")
    given = {"headers": headers, "old_headers": old_headers, "new_headers": new_headers}
    named = headers_of_sides(call, given, include_dirs, language)
    target, _, profile = (line or "").partition("/")
    options = ExtractOptions(max_bytes=call.settings.max_file_size, progress=call.progress, headers=named["headers"])
    asked = tuple(findings or ())
    found = witnesses(
        old,
        new,
        findings=asked,
        database=call.settings.database,
        selection=Selection(target or None, profile or None, options, named["old_headers"], named["new_headers"]),
        by=ruling_of(call.settings, policy, None, None),
        plan=WitnessPlan(most=limit or USUAL),
    )
    items = tuple(fitting(map(_item, found.witnesses), BUDGET))
    total = len(found.witnesses) + found.left_out
    shown = sum(each.state == "shown" for each in items)
    return WitnessAnswer(
        headline=f"{shown} of {counted(total, 'break')} shown by a program",
        items=items,
        total=total,
        left_out=total - len(items),
        next=tuple(_next(call, found.witnesses[len(items) :], old_input, new_input)),
    )


def _item(made: Witness) -> ProgramItem:
    return ProgramItem(
        finding=made.finding,
        kind=made.kind,
        name=brief(" ".join(filter(None, (made.display, made.part)))),
        state=made.state,
        sort=made.sort or "",
        reason=made.reason,
        declarations=made.declarations,
        program=made.program,
        lines=made.lines,
        files=dict(made.files),
        commands=made.commands,
        before=made.before,
        after=made.after,
        compiler=made.compiler,
    )


def _next(call: Call, rest: tuple[Witness, ...], old: str, new: str) -> Iterator[NextCall]:
    if rest:
        given = {**call.arguments, "findings": [each.finding for each in rest]}
        yield asking("abi_witness", "See the programs that did not fit.", **given)
    yield asking("abi_compare", "See the comparison and all its findings.", old_input=old, new_input=new)
