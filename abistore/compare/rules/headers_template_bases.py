"""Base classes of class templates, of which programs make instances themselves."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.templates.bases import are_recorded, missed
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.declared import Declared
from abistore.model.deltas import Changed
from abistore.model.findings import Impact


@rule(Impact.API_BREAK, variant="template_removed", evidence="source", element="types", action="changed")
def type_base_changed_template_removed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class template has no more a base class that its users could reach.

    Built programs hold instances of the old template. Sources that convert an instance to the base, or use what it
    inherited, stop compiling. A base of a namespace such as ``detail`` counts by its members, which the template or
    another base may have.

    Fix: keep the base.
    """
    if _differ(declared, context) and missed(declared, context):
        yield Note("a base class is gone", _listed(declared.old), _listed(declared.new))


@rule(Impact.RISK, variant="template", evidence="source", element="types", action="changed")
def type_base_changed_template(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The base classes of a class template differ, and its users have all that they had.

    Built programs hold instances of the old template: where these pass to code that is compiled now, both disagree
    about their layout. A name that a base brings may be ambiguous in classes that derive from the template.

    Fix: keep the bases where instances pass between programs that are compiled apart.
    """
    if _differ(declared, context) and not missed(declared, context):
        yield Note("the base classes differ", _listed(declared.old), _listed(declared.new))


def _differ(declared: Changed[Declared], context: Context) -> bool:
    old, new = declared.old, declared.new
    both = all("template" in side.traits for side in (old, new))
    told = bool(old.bases and new.bases) or are_recorded(context)
    return both and told and old.bases != new.bases


def _listed(declared: Declared) -> str:
    """The bases as a class declares them."""
    bases = (f"{each.access} {'virtual ' * each.virtual}{each.type}" for each in declared.bases)
    return ", ".join(bases) or "none"
