"""Marks that headers put on declarations: deprecated, not to be ignored, available on some systems only."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.availability import is_narrower
from abistore.compare.classify.declared_traits import gained, lost
from abistore.compare.classify.promises import broken_promises
from abistore.compare.context import Context
from abistore.compare.diff.headers.former import tell
from abistore.compare.rule import Note, rule
from abistore.model.declared import Declared
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.snapshot import REFUSALS


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="functions",
    action="changed",
    aliases=(
        "enum_deprecated_added",
        "field_deprecated_added",
        "func_deprecated_added",
        "type_deprecated_added",
        "var_deprecated_added",
    ),
)
def deprecation_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration was marked deprecated.

    Built consumers work as before. Sources get warnings, and errors where warnings are errors.

    Fix: tell consumers what to use instead, and when it goes.
    """
    if gained(declared, "deprecated"):
        yield Note("the declaration is deprecated", None, "deprecated")


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="functions",
    action="changed",
    aliases=(
        "enum_deprecated_removed",
        "field_deprecated_removed",
        "func_deprecated_removed",
        "type_deprecated_removed",
        "var_deprecated_removed",
    ),
)
def deprecation_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is no longer marked deprecated.

    Built consumers and sources work as before.

    Fix: nothing.
    """
    if lost(declared, "deprecated"):
        yield Note("the declaration is not deprecated", "deprecated", None)


# --- results that are not to be ignored -----------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def nodiscard_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration was marked ``[[nodiscard]]``.

    Built programs work as before. Sources that ignore the result get warnings, and errors where warnings are errors.

    Fix: nothing.
    """
    if gained(declared, "nodiscard"):
        yield Note("the result is not to be ignored", None, "nodiscard")


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def nodiscard_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is no longer marked ``[[nodiscard]]``.

    Built programs and sources work as before.

    Fix: nothing.
    """
    if lost(declared, "nodiscard"):
        yield Note("the result may be ignored", "nodiscard", None)


# --- what compilers refuse ------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="refused", evidence="source", element="functions", action="changed")
def availability_changed_refused(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Compilers refuse whatever uses a declaration.

    Built programs use it as long as the library exports it. Sources that use it stop compiling: it is ``unavailable``,
    an ``error``, a poisoned name, or a macro of its name that no call compiles with.

    Fix: mark it deprecated for a while, and let sources compile.
    """
    if gained(declared, "refused") and tell(context, REFUSALS):
        yield Note("compilers refuse what uses it", None, "refused")


@rule(Impact.COMPATIBLE, variant="allowed", evidence="source", element="functions", action="changed")
def availability_changed_allowed(declared: Changed[Declared]) -> Iterator[Note]:
    """Compilers no longer refuse what uses a declaration.

    Built programs and sources work as before.

    Fix: nothing.
    """
    if lost(declared, "refused"):
        yield Note("compilers accept what uses it", "refused", None)


# --- what callers are compiled by -----------------------------------------------------------------------------------


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def func_promise_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function no longer promises what callers were compiled by.

    Compilers leave out of programs what an attribute makes needless: a look for a null pointer behind
    ``returns_nonnull``, a second call of a function that is ``pure`` or ``const``. Programs that are built keep to that
    when the function no longer does.

    Fix: keep the promise under this name.
    """
    gone = broken_promises(declared.old, declared.new)
    if gone:
        yield Note("callers rely on what the function promised", ", ".join(gone), _promised(declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_promise_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A function promises more than before.

    Built programs work as before: they were compiled for less. Example: ``int size(void)`` is ``pure`` now.

    Fix: nothing.
    """
    come = broken_promises(declared.new, declared.old)
    if come:
        yield Note("the function promises more", _promised(declared.old), ", ".join(come))


def _promised(declared: Declared) -> str | None:
    return ", ".join(declared.promises) or None


# --- availability ---------------------------------------------------------------------------------------------------


def _available(declared: Declared) -> str | None:
    return ", ".join(declared.availability) or None


@rule(Impact.API_BREAK, variant="narrowed", evidence="source", element="functions", action="changed")
def availability_changed_narrowed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is available on fewer systems than before.

    Built programs use it as before, where the library still has it. Sources that are compiled for a system that no
    longer has it get errors, or must ask at run time.

    Fix: keep it available, and mark it deprecated on those systems.
    """
    if declared.old.availability != declared.new.availability and is_narrower(declared.old, declared.new):
        yield Note("the declaration is available on fewer systems", _available(declared.old), _available(declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def availability_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """What a declaration says of the systems that have it changed, and it is available on as many as before.

    Built programs use it as before.

    Fix: nothing.
    """
    if declared.old.availability != declared.new.availability and not is_narrower(declared.old, declared.new):
        yield Note("the declaration's availability differs", _available(declared.old), _available(declared.new))
