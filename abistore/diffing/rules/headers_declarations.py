"""Declarations that public headers have no more, or have now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from abistore.diffing.context import Context, Note, declaration, rule
from abistore.diffing.kinds.abilities import graduated, is_experimental
from abistore.diffing.kinds.parameter_types import accepts, serves
from abistore.diffing.parts import PublicHeader, UnexportedDeclaration
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import Sameness
from abistore.model.declarations import NOT_EXPORTED, Added, Changed, Declared, Name, Removed, Trait
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle
from abistore.model.names.symbols import is_const_member, without_const
from abistore.model.shapes import AnyShape, Function, Variable

if TYPE_CHECKING:
    from abistore.diffing.kinds.replaced_functions import Successor

TOLD_OTHERWISE: tuple[Trait, ...] = ("constant", "friend", "macro", "using")
"""Traits of declarations whose coming and going has a kind of its own."""


def is_plain(declared: Declared) -> bool:
    """Whether a declaration is nothing but a declaration."""
    return not any(each in TOLD_OTHERWISE for each in declared.traits)


@rule(Impact.API_BREAK, evidence="source", element="functions", action="removed")
def removed_const_overload(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """The ``const`` overload of a member function is no longer declared.

    Sources that call it on constant objects stop compiling. A removed export is reported separately.

    Fix: keep both overloads.
    """
    if (other := _other_overload(declared.subject.name)) is not None and _declares(context, other):
        yield Note("the overload for const objects was removed", demangle(declared.subject.name.spelling), None)


def _other_overload(name: Name) -> Name | None:
    """The overload without ``const`` of a member function that has it."""
    if name.kind == "function" and is_const_member(name.spelling):
        return Name("function", without_const(name.spelling))
    return None


def _declares(context: Context, name: Name) -> bool:
    return bool(context.new.variants("source", name))


def _goes_with_class(name: Name, side: SideFacts, other: SideFacts) -> bool:
    """Whether ``name`` is a member of a class or template that the other side's headers do not have either."""
    for shape in side.variants("source", name):
        owner = shape.owner if isinstance(shape, Variable) else None
        if isinstance(shape, Function) and shape.method is not None:
            owner = shape.method.owner
        if owner is not None:
            return not other.variants("source", owner)
    return False


@rule(
    Impact.API_BREAK,
    evidence="source",
    element="functions",
    action="removed",
    aliases=("cpo_kind_changed", "inline_function_removed", "uninstantiated_template_removed"),
)
def declaration_removed(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A function, variable, type, template or concept is no longer declared in a public header.

    Existing binaries keep using it as long as the library exports it. Sources that use it stop compiling.

    Fix: keep the declaration and mark it deprecated.
    """
    name = declared.subject.name
    if _has_no_other(declared, context) and not is_unexported(context.old, name, declared.old):
        yield Note("no public header declares it", demangle(name.spelling), None)


@rule(Impact.RISK, variant="unexported", evidence="source", element="functions", action="removed")
def declaration_removed_unexported(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A function or variable is no longer declared that the library did not export.

    No program that uses it could be linked with this library. Sources that use it stop compiling where another library
    of the project, or a static one, defines it.

    Fix: nothing, unless another library defines it.
    """
    name = declared.subject.name
    if _has_no_other(declared, context) and is_unexported(context.old, name, declared.old):
        yield Note("it was declared and not exported", demangle(name.spelling), None)


def _has_no_other(declared: Removed[Declared], context: Context) -> bool:
    """Whether a declaration is gone and no other function, and none that compilers make, takes its calls."""
    name = declared.subject.name
    return _is_missed(declared, context) and _successor(name, context) is None and not _is_implied(name, context)


def _is_missed(declared: Removed[Declared], context: Context) -> bool:
    name = declared.subject.name
    other = _other_overload(name)
    overload = other is not None and _declares(context, other)
    vanished = context.old.variants("symbol", name) != () == context.new.variants("symbol", name)
    class_goes = _goes_with_class(name, context.old, context.new) or _is_deleted(context.old, name)
    special = overload or vanished or class_goes or is_experimental(name)
    return is_plain(declared.old) and not special


def _successor(name: Name, context: Context) -> Successor | None:
    """What takes all calls of a function that is gone, where sources get it."""
    if name.kind != "function":
        return None
    from abistore.diffing.kinds.replaced_functions import successor  # few functions go

    found: Successor | None = context.once(successor, name)
    declared = () if found is None else context.new.variants("source", found.name)
    lacking = (
        isinstance(each, Declared) and is_unexported(context.new, found.name, each) for each in declared if found
    )
    return None if any(lacking) else found


@rule(Impact.RISK, variant="widened", evidence="source", element="functions", action="changed")
def declaration_changed_widened(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A function changed and still accepts all old calls.

    It got a parameter with a default or a pack that may be empty. Or it requires less of its template arguments. Or it
    takes a type that the old one converts to, such as ``long`` for ``int``. Or a using-declaration imports another
    library's declaration: ``using std::swap;``. Or a template replaced an explicit specialization. Existing binaries
    have the old function compiled in, or use it as long as the library exports it. Sources that call it compile as
    before. Sources that take its address, or specialize the template, may stop compiling.

    Fix: add an overload, and keep the old function.
    """
    other = _taking_calls(declared, context)
    if other is not None and not other.same:
        yield Note("calls compile as before", *_calls(declared, other))


@rule(Impact.COMPATIBLE, variant="scope_moved", evidence="source", element="functions", action="changed")
def declaration_changed_scope_moved(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A function is declared elsewhere, and is still found by its name.

    A public base class declares the member function, or a using-declaration imports a function with the same parameters
    and result. Existing binaries have the old function compiled in, or use it as long as the library exports it.
    Sources compile as before.

    Fix: nothing.
    """
    other = _taking_calls(declared, context)
    if other is not None and other.same:
        yield Note("its name resolves to another declaration", *_calls(declared, other))


def _taking_calls(declared: Removed[Declared], context: Context) -> Successor | None:
    return _successor(declared.subject.name, context) if _is_missed(declared, context) else None


def _calls(declared: Removed[Declared], other: Successor) -> tuple[str, str]:
    return demangle(declared.subject.name.spelling), demangle(other.name.spelling)


def _is_deleted(side: SideFacts, name: Name) -> bool:
    """Whether a declaration only says that there is no such function: nobody misses it."""
    functions = [each for each in side.variants("source", name) if isinstance(each, Function)]
    return any(each.method is not None and each.method.deleted for each in functions)


def _is_implied(name: Name, context: Context) -> bool:
    if name.kind != "function":
        return False
    from abistore.diffing.kinds.abilities import is_made_by_compilers  # few functions go

    made: bool = context.once(is_made_by_compilers, name)
    return made


@rule(Impact.RISK, variant="special_member", evidence="source", element="types", action="removed")
def declaration_removed_special_member(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A class no longer declares a constructor, an assignment or its destructor, and compilers generate it.

    A test with the compiler showed that sources compile as before. Existing binaries have the old one compiled in.
    Recompiled code initialises objects with the values in the header, if any, and copies and destroys their members.

    Fix: initialise each member with the value that the constructor gave it.
    """
    name = declared.subject.name
    if _is_missed(declared, context) and _is_implied(name, context):
        yield Note("compilers generate it", demangle(name.spelling), None)


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="added")
def declaration_added(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public header declares a new function, variable, type, template or concept without a new export.

    Existing binaries work as before.

    Fix: nothing; from now on it is part of the interface.
    """
    name = declared.subject.name
    exported_anew = bool(context.new.variants("symbol", name)) and not context.old.variants("symbol", name)
    class_comes = _goes_with_class(name, context.new, context.old)
    if is_plain(declared.new) and not (exported_anew or class_comes or lacks_export(declared, context)):
        yield Note("a public header declares it", None, demangle(name.spelling))


@rule(Impact.API_BREAK, variant="inline", evidence="source", element="functions", action="changed")
def declaration_changed_inline(declared: Changed[UnexportedDeclaration], context: Context) -> Iterator[Note]:
    """The type of an unexported inline function, template member or constant changed.

    Existing binaries have their own copy, with the old type. Sources that rely on that type stop compiling. Another
    spelling of the same type does not count: a typedef, or a tag for a struct that had only a typedef's name.

    Fix: add a function or constant with a new name.
    """
    name, old, new = declared.subject.name, declared.old.shape, declared.new.shape
    if not _only_respelled(old, new, context) and not _converts(name, old, new, context):
        yield Note("the declaration changed", declaration(name, old), declaration(name, new))


@rule(Impact.COMPATIBLE, variant="inline_widened", evidence="source", element="functions", action="changed")
def declaration_changed_inline_widened(declared: Changed[UnexportedDeclaration], context: Context) -> Iterator[Note]:
    """An inline function accepts more argument types, or its result converts to the old type.

    The library does not export it: existing binaries have their own copy. Only a pointer to the function itself has
    another type. Example: a parameter became a pointer to ``const``.

    Fix: nothing.
    """
    name, old, new = declared.subject.name, declared.old.shape, declared.new.shape
    if _converts(name, old, new, context) and not _only_respelled(old, new, context):
        yield Note("arguments and results convert as before", declaration(name, old), declaration(name, new))


def _converts(name: Name, old: AnyShape, new: AnyShape, context: Context) -> bool:
    """Whether all that callers pass converts to the parameters of a function, and its result to what it was."""
    if not (isinstance(old, Function) and isinstance(new, Function)):
        return False
    alike = (old.variadic, old.calling_convention) == (new.variadic, new.calling_convention)
    overridden = old.is_virtual or new.is_virtual  # by functions of the former types
    return (
        (alike and not overridden)
        and len(old.parameters) == len(new.parameters)
        and serves(name, old.result, new.result, context, certain=True)
        and all(
            accepts(name, *pair, context, certain=True) for pair in zip(old.parameters, new.parameters, strict=True)
        )
    )


def _only_respelled(old: AnyShape, new: AnyShape, context: Context) -> bool:
    """Whether all types of a function or variable are the same types by other names."""
    match old, new:
        case Function(), Function():
            before, after = (old.result, *old.parameters), (new.result, *new.parameters)
            alike = (old.variadic, old.calling_convention) == (new.variadic, new.calling_convention)
        case Variable(), Variable():
            before, after, alike = (old.type,), (new.type,), True
        case _:
            return False
    if not alike or len(before) != len(after):
        return False
    return all(context.stored(*pair) <= Sameness.SPELLING for pair in zip(before, after, strict=True))


# --- experimental declarations ----------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="functions", action="removed")
def experimental_removed_without_replacement(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A declaration in a namespace ``experimental`` was removed.

    Existing binaries keep using it as long as the library exports it. Sources that use it stop compiling. The namespace
    promised no stability, so a policy may accept this.

    Fix: keep the declaration until there is a stable one.
    """
    name = declared.subject.name
    if is_plain(declared.old) and is_experimental(name) and not _declares(context, graduated(name)):
        yield Note("the experimental declaration was removed", demangle(name.spelling), None)


@rule(Impact.API_BREAK, evidence="source", element="functions", action="removed")
def experimental_graduated(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A declaration moved out of the namespace ``experimental``.

    Existing binaries keep using it as long as the library exports it under the old name. Sources that use the old name
    stop compiling.

    Fix: keep the old name as an alias, with ``using``, for a transition period.
    """
    name = declared.subject.name
    other = graduated(name)
    if is_plain(declared.old) and is_experimental(name) and _declares(context, other):
        yield Note("the declaration is no longer experimental", demangle(name.spelling), demangle(other.spelling))


# --- headers and the binary -----------------------------------------------------------------------------------------


@rule(
    Impact.API_BREAK,
    evidence="source",
    element="library",
    action="removed",
    aliases=("include_graph_public_header_drift",),
)
def header_removed(header: Removed[PublicHeader]) -> Iterator[Note]:
    """A public header was removed.

    Existing binaries do not notice. Sources that include it stop compiling, even if another header has its
    declarations.

    Fix: keep a header with this name, which includes the one that has its declarations now.
    """
    if not header.old.inside:
        yield Note("sources cannot include the header", header.old.file, None)


@rule(Impact.RISK, variant="inside", evidence="source", element="library", action="removed")
def header_removed_inside(header: Removed[PublicHeader]) -> Iterator[Note]:
    """A header was removed that sources could not include directly.

    It is an error unless another header includes it: ``#error "Only <geo.h> can be included directly."`` Declarations
    that were lost with it are reported separately.

    Fix: nothing.
    """
    if header.old.inside:
        yield Note("other headers no longer include the header", header.old.file, None)


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="library",
    action="added",
    aliases=("include_graph_public_header_drift",),
)
def header_added(header: Added[PublicHeader]) -> Iterator[Note]:
    """A public header is new.

    Existing binaries do not notice.

    Fix: nothing.
    """
    yield Note("sources can include the header", None, header.new.file)


@rule(
    Impact.RISK,
    evidence="source",
    element="functions",
    action="added",
    aliases=("instantiation_missing_from_binary", "source_decl_binary_symbol_mismatch"),
)
def public_not_exported(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public header declares a function or variable that the library does not export.

    Existing binaries do not use it. Sources that use it compile, but do not link.

    Fix: export it, or declare it in a private header.
    """
    if lacks_export(declared, context):
        yield Note("the library does not export it", None, demangle(declared.subject.name.spelling))


def lacks_export(declared: Added[Declared], context: Context) -> bool:
    """Whether a declaration is of no use to consumers without an export that the library does not have."""
    return is_unexported(context.new, declared.subject.name, declared.new)


def is_unexported(side: SideFacts, name: Name, declared: Declared) -> bool:
    """Whether a public header of a side declares what consumers can only use by an export, which is not there."""
    own = name.kind in ("function", "variable") and NOT_EXPORTED.isdisjoint(declared.traits)
    known = "symbol" in side.snapshot.entries
    return own and known and not _exports(side, name) and _is_defined_somewhere(side, name)


def _exports(side: SideFacts, name: Name) -> bool:
    """Whether a side exports ``name``; of a constructor or destructor, any variant."""
    stands = name.spelling
    others = (stands.replace(one, another) for one, another in (("C1E", "C2E"), ("D1E", "D2E"), ("D1E", "D0E")))
    return any(side.variants("symbol", Name(name.kind, each)) for each in (stands, *others))


def _is_defined_somewhere(side: SideFacts, name: Name) -> bool:
    """Whether the declaration must have a definition: not what is deleted, pure or for the class alone."""
    methods = (shape.method for shape in side.variants("source", name) if isinstance(shape, Function))
    return not any(
        method is not None and (method.deleted or method.virtual == "pure" or method.access == "private")
        for method in methods
    )
