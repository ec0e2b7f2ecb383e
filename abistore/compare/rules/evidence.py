"""The evidence itself: debug information that is gone, other compiler options, several definitions of one name."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.diff.parts import Agreement, Variant
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.spelling import declaration
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact, evidence_rank
from abistore.model.snapshot import Evidence
from abistore.model.words.counting import counted

WORDS = ("nothing", "a part", "everything")


@rule(Impact.NOTICE, evidence="layout", element="library", action="removed", aliases=("layout_unverifiable",))
def dwarf_info_missing(evidence: Changed[Evidence]) -> Iterator[Note]:
    """The new build has no debug information, and the old one had.

    Layouts, parameters and enumerators were not compared: a break there stays unseen.

    Fix: build with ``-g``; where the debug information is in a file of its own, name its folder with ``--debug-dir``.
    """
    if evidence.old.facet == "layout" and evidence_rank(evidence.old) > evidence_rank(evidence.new) == 0:
        yield Note("the new build has no debug information", _seen(evidence.old), _seen(evidence.new))


@rule(
    Impact.NOTICE,
    evidence="layout",
    element="library",
    action="changed",
    aliases=("layer_coverage_asymmetric", "source_fact_coverage_incomplete"),
)
def evidence_narrowed(evidence: Changed[Evidence]) -> Iterator[Note]:
    """The new build shows less of the exported declarations than the old one did.

    What only the old build shows was not compared. The report lists it as not checked.

    Fix: build every unit of the library with ``-g``, and pass headers for both sides or for none.
    """
    old, new = evidence.old, evidence.new
    missing = old.facet == "layout" and evidence_rank(new) == 0
    if evidence_rank(new) < evidence_rank(old) and not missing:
        yield Note(f"less is known of the {new.facet}", _seen(old), _seen(new))


def _seen(evidence: Evidence) -> str:
    words = WORDS[evidence_rank(evidence)]
    exports = counted(evidence.expected, "export")
    return f"{words} ({evidence.described} of {exports})" if evidence.expected else words


@rule(
    Impact.RISK,
    evidence="source",
    element="types",
    action="changed",
    aliases=(
        "compile_context_conflict",
        "header_binary_context_mismatch",
        "header_build_context_mismatch",
        "source_binary_provenance_mismatch",
        "source_surface_dso_mismatch",
    ),
)
def evidence_agreement_removed(agreement: Changed[Agreement]) -> Iterator[Note]:
    """The new headers define a type otherwise than the new library was compiled with.

    Programs that include these headers lay the type out in another way than the library does. Where the headers belong
    to another release or another configuration, what they tell of this library may be wrong altogether.

    Fix: give the headers that the library was built with, and the macros that it was configured with (``--define``).
    """
    if agreement.new.header:
        yield Note("headers and library disagree", agreement.new.header, agreement.new.binary)


@rule(Impact.RISK, evidence="layout", element="types", action="removed", aliases=("odr_source_conflict",))
def declaration_definition_removed(variant: Removed[Variant]) -> Iterator[Note]:
    """One of several definitions of one name is gone.

    The library's units disagreed about the definition, and now fewer do. Programs that were compiled with the
    definition that is gone agree with no unit any more.

    Fix: give one name one definition in all units (the one definition rule).
    """
    yield Note("one of the definitions is gone", declaration(variant.subject.name, variant.old.shape))


@rule(
    Impact.RISK,
    evidence="layout",
    element="types",
    action="added",
    aliases=("identity_collision_detected", "odr_type_variant"),
)
def declaration_definition_added(variant: Added[Variant]) -> Iterator[Note]:
    """One name has a further, different definition.

    The library's units disagree about the definition. Objects that pass between them, or to programs, are used with two
    layouts.

    Fix: give one name one definition in all units (the one definition rule).
    """
    yield Note("the name has a further definition", None, declaration(variant.subject.name, variant.new.shape))
