"""What other checkers need not look at: exports that nobody can name, and findings that somebody accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from abistore.model.judging.approvals import Approval
from abistore.model.names import TYPES
from abistore.model.snapshot import Snapshot
from abistore.model.words.characters import in_line
from abistore.service.declared_exports import declared_exports


class Skipped(msgspec.Struct, frozen=True, order=True):
    """A symbol or type to leave out, and why."""

    name: str
    is_type: bool
    why: str


def skipped(snapshot: Snapshot, accepted: Sequence[Approval]) -> tuple[Skipped, ...]:
    """The exports that no public header declares, where headers were read, and what approvals are about; sorted."""
    found = {each.name: each for each in [*_undeclared(snapshot), *_accepted(accepted)]}
    return tuple(found[name] for name in sorted(found))


def _undeclared(snapshot: Snapshot) -> Iterator[Skipped]:
    told = declared_exports(snapshot)
    for symbol in told.undeclared if told else ():
        yield Skipped(symbol, False, "no public header declares it")


def _accepted(accepted: Sequence[Approval]) -> Iterator[Skipped]:
    for one in accepted:
        if one.facts and one.facts.symbol:
            why = in_line(f"accepted by {one.approver}: {one.reason}")
            yield Skipped(one.facts.symbol, one.facts.subject in TYPES, why)


def abigail_suppressions(found: Sequence[Skipped]) -> str:
    """A suppression file of libabigail (its manual, "Suppression specifications")."""
    return "\n".join(part for each in found for part in _sections(each))


def _sections(each: Skipped) -> Iterator[str]:
    if each.is_type:
        yield f"[suppress_type]\n  label = {each.why}\n  name = {each.name}\n"
        return
    for kind in ("function", "variable"):
        yield f"[suppress_{kind}]\n  label = {each.why}\n  symbol_name = {each.name}\n"


def abicc_symbols(found: Sequence[Skipped]) -> str:
    """A list for ``abi-compliance-checker -skip-symbols``: one symbol a line."""
    return "".join(f"{each.name}\n" for each in found if not each.is_type)


def abicc_types(found: Sequence[Skipped]) -> str:
    """A list for ``abi-compliance-checker -skip-types``: one type a line."""
    return "".join(f"{each.name}\n" for each in found if each.is_type)
