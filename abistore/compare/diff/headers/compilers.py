"""Declarations of the new headers that were passed over since they ask which compiler reads them."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.model.findings import NotChecked
from abistore.model.header_modes import AskedCompiler
from abistore.model.snapshot import MODES, HeadersRead

ASKED_OF_COMPILERS = "headers-ask-compiler"
MOST_SAID = 3


def asked_of_compilers(context: Context) -> Iterator[NotChecked]:
    """That other compilers, or versions of one, see declarations that the old headers did not have for them.

    What both sides pass over alike is no difference.
    """
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    if not isinstance(old, HeadersRead) or not isinstance(new, HeadersRead):
        return
    if MODES not in old.facts or MODES not in new.facts:
        return
    known = {(each.text, each.unread) for each in old.compilers}
    asked = [each for each in new.compilers if (each.text, each.unread) not in known]
    if asked:
        more = f"; and {len(asked) - MOST_SAID} more" if len(asked) > MOST_SAID else ""
        what = f"compilers for which these conditions hold otherwise see other declarations: {_said(asked)}{more}"
        hint = "compile a program with each compiler; libclang reads the headers as Clang does"
        yield NotChecked("source", "new", ASKED_OF_COMPILERS, what, hint)


def _said(asked: list[AskedCompiler]) -> str:
    return "; ".join(f"`{each.text}` in {each.file}" for each in asked[:MOST_SAID])
