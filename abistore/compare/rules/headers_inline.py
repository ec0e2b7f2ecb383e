"""Bodies of inline functions and templates, of which each program has a copy."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.declared_traits import gained, lost, told_beside
from abistore.compare.classify.exchanged_members import members_exchanged
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.demangle import demangle
from abistore.model.declared import Declared, InlineBody
from abistore.model.deltas import Changed
from abistore.model.findings import Impact


def _uses(body: InlineBody) -> str:
    """What of the library's inside a body uses, as people write it."""
    found = ", ".join([*body.members, *body.types, *map(demangle, body.calls)])
    return f"uses {found}" if found else "uses nothing of the library"


def _bodies(declared: Changed[Declared]) -> tuple[InlineBody, InlineBody] | None:
    """Both bodies, if they differ in what both tell."""
    old, new = declared.old.body, declared.new.body
    return None if old is None or new is None or told_beside(old, new) == told_beside(new, old) else (old, new)


def _works_with_the_library(body: InlineBody) -> bool:
    return bool(body.members or body.types or body.calls)


@rule(
    Impact.RISK,
    evidence="source",
    element="functions",
    action="changed",
    aliases=(
        "inline_body_references_renamed_member",
        "public_api_internal_dependency_added",
        "public_to_internal_dependency",
        "template_body_changed",
    ),
)
def inline_body_changed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The body of an inline function or a template that works with the library's inside changed.

    Built programs go on running the old body, which was compiled into them: it uses private members, or calls functions
    of the library, as the old release meant it. Beside code that was compiled with the new header both bodies run in
    one process.

    Fix: let the new library accept what the old body does; put the body into the library, where all programs get it.
    """
    bodies = _bodies(declared)
    works = bodies is not None and any(map(_works_with_the_library, bodies))
    if bodies is not None and works and not members_exchanged(declared, context):
        before, after = map(_uses, bodies)
        if before == after:
            yield Note(f"the inline body differs, which {before}")
        else:
            yield Note("the inline body differs", before, after)


@rule(Impact.BREAKING, variant="offsets", evidence="source", element="functions", action="changed")
def inline_body_changed_offsets(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The body of an inline function uses other data members than before, and none of those that it used.

    ``int count() const { return count_; }`` became ``{ return n_; }``, and the two members lie at different places.
    Built programs have the old place compiled in. They read there what the new library no longer keeps up, and write
    where it does not look.

    Fix: keep the old member up to date as well; or bump the SONAME.
    """
    if _bodies(declared) is not None and (moved := members_exchanged(declared, context)):
        yield Note("the inline body uses other members", ", ".join(moved[0]), ", ".join(moved[1]))


@rule(Impact.COMPATIBLE, variant="self_contained", evidence="source", element="functions", action="changed")
def inline_body_changed_self_contained(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The body of an inline function or a template changed, which uses nothing of the library's inside.

    Built programs go on running the old body: no fix in the new one reaches them until they are compiled again.

    Fix: nothing; where the old body was wrong, tell consumers to compile again.
    """
    bodies = _bodies(declared)
    if bodies is None or any(map(_works_with_the_library, bodies)):
        return
    if not members_exchanged(declared, context):
        yield Note("the inline body differs")


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def func_became_inline(declared: Changed[Declared]) -> Iterator[Note]:
    """A function became inline.

    Programs that are compiled again have their own copy, and run it beside the library's, which older programs call:
    two behaviours in one process as soon as one of them changes. Where the library exports it no longer, built programs
    do not find it; that is a finding of its own.

    Fix: keep a definition in the library that is not inline.
    """
    defined = "defined" in declared.old.traits  # each program has its own copy already
    if declared.subject.name.kind == "function" and gained(declared, "inline") and not defined:
        yield Note("the function is inline", None, "inline")


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_lost_inline(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is no longer inline.

    Built programs go on running their own copies, with the old behaviour.

    Fix: nothing, where old and new behaviour work together.
    """
    if declared.subject.name.kind == "function" and lost(declared, "inline"):
        yield Note("the function is not inline", "inline", None)
