"""By what names sources find declarations: through a class that has them for friends, ``using``, inline namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.declared_traits import gained, lost
from abistore.compare.diff.parts import InlineNamespace
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.demangle import demangle
from abistore.model.declared import Declared
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact

# --- friends ------------------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="functions", action="removed")
def hidden_friend_removed(declared: Removed[Declared]) -> Iterator[Note]:
    """A function that only its class declares, as a friend, is gone.

    Built programs have a copy of it, or use the library's as long as it exports one. Sources that call it, such as an
    operator for objects of the class, stop compiling.

    Fix: keep the friend.
    """
    if "friend" in declared.old.traits:
        yield Note("the friend is gone", demangle(declared.subject.name.spelling), None)


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="added")
def hidden_friend_added(declared: Added[Declared]) -> Iterator[Note]:
    """A class declares a function of its own as a friend.

    Built programs do not use it. It is found for objects of the class only.

    Fix: nothing.
    """
    if "friend" in declared.new.traits:
        yield Note("the friend is new", None, demangle(declared.subject.name.spelling))


@rule(Impact.API_BREAK, variant="scope_narrowed", evidence="source", element="functions", action="changed")
def declaration_changed_scope_narrowed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is declared in a class only, as its friend, and no longer in the namespace around it.

    Built programs use it as before. Sources that call it by its qualified name, take its address, or rely on a
    conversion to the class, stop compiling.

    Fix: keep the declaration in the namespace.
    """
    if gained(declared, "friend"):
        yield Note("the function is found through its arguments only", None, "hidden friend")


@rule(Impact.COMPATIBLE, variant="scope_widened", evidence="source", element="functions", action="changed")
def declaration_changed_scope_widened(declared: Changed[Declared]) -> Iterator[Note]:
    """A function that only its class declared, as a friend, is declared in the namespace too.

    Built programs use it as before.

    Fix: nothing.
    """
    if lost(declared, "friend"):
        yield Note("the function is found by its name", "hidden friend", None)


# --- using-declarations -------------------------------------------------------------------------------------------


@rule(
    Impact.API_BREAK,
    variant="using",
    evidence="source",
    element="types",
    action="removed",
    aliases=("std_reexport_removed",),
)
def declaration_removed_using(declared: Removed[Declared]) -> Iterator[Note]:
    """A using-declaration is gone.

    Built programs use what it brought in. Sources that name that by the scope of the using-declaration stop compiling.
    Example: ``using std::string_view;`` in a namespace.

    Fix: keep the using-declaration.
    """
    if "using" in declared.old.traits:
        yield Note("the name is not brought in", declared.old.value, None)


@rule(Impact.COMPATIBLE, variant="using", evidence="source", element="types", action="added")
def declaration_added_using(declared: Added[Declared]) -> Iterator[Note]:
    """A using-declaration is new.

    Built programs do not notice.

    Fix: nothing; the name may clash with one that sources bring in too.
    """
    if "using" in declared.new.traits:
        yield Note("the name is brought in", None, declared.new.value)


@rule(Impact.API_BREAK, variant="using", evidence="source", element="types", action="changed")
def declaration_changed_using(declared: Changed[Declared]) -> Iterator[Note]:
    """A using-declaration brings in something else, or became a declaration of its own.

    Built programs use what it brought in. Sources that are compiled again use another declaration, and stop compiling
    where that is used otherwise.

    Fix: keep what the name stands for.
    """
    old, new = ("using" in side.traits for side in (declared.old, declared.new))
    if (old or new) and (old != new or declared.old.value != declared.new.value):
        yield Note("the name stands for something else", declared.old.value, declared.new.value)


# --- inline namespaces ----------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="library", action="removed")
def namespace_inline_removed(namespace: Removed[InlineNamespace]) -> Iterator[Note]:
    """A namespace is inline no longer.

    Symbols are the same, and built programs do not notice. Sources that name what stands in it through the namespace
    around it (``lib::point`` for ``lib::v1::point``) stop compiling.

    Fix: keep the namespace inline, or write ``using namespace v1;`` beside it.
    """
    yield Note("sources must write the namespace", f"inline namespace {namespace.old.scope}", None)


@rule(Impact.COMPATIBLE, evidence="source", element="library", action="added")
def namespace_inline_added(namespace: Added[InlineNamespace]) -> Iterator[Note]:
    """A namespace became inline.

    Symbols are the same. What stands in it is also found in the namespace around it.

    Fix: nothing.
    """
    yield Note("sources need not write the namespace", None, f"inline namespace {namespace.new.scope}")
