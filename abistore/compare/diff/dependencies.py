"""Types that another library defines: this one has the linker find members of classes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from abistore.compare.consumers.export_table import is_weak
from abistore.compare.consumers.other_libraries import exports_members, folder, imported_members
from abistore.compare.consumers.runtime_symbols import RUNTIMES
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.declared import COPIED, Declared
from abistore.model.labels.sonames import library_name
from abistore.model.names import EXPORTS, Name
from abistore.model.references import embedded, references
from abistore.model.shapes import AnyShape, Function, Record
from abistore.model.words.files import file_name, is_source

SYSTEM: Final = RUNTIMES | {"libc", "libm", "libpthread", "libdl", "librt", "libSystem", "KERNEL32", "msvcrt"}
"""Libraries of the languages and of the system, which no class of a project is from."""


def is_of_another(name: Name, context: Context) -> bool:
    """Whether the type ``name`` is another library's in both releases, and this one's exports do without its layout.

    No class of this library embeds it or derives from it, and no export passes it by value.
    """
    side = context.old
    asked = imported_members(name, side.exports)
    if not asked and not _is_given(name, side):
        asked = side.borrowed.get(name, ()) or _members_on_the_way(name, context)
    if not asked or not (_needs_others(side) or _is_left_to_others(name, asked, context)):
        return False
    if any(context.new.variants("symbol", Name(kind, each)) for each in asked for kind in EXPORTS):
        return False
    return not _is_laid_out_here(name, side)


def _members_on_the_way(name: Name, context: Context) -> tuple[str, ...]:
    """The imported members of the classes through which alone both releases come to a type, which then is of another.

    Headers leave it open whose a type is that no given one declares. But what only classes of other libraries mention
    is theirs, or of one below: they were compiled with its definition.
    """
    if not _is_only_included(name, context.old):
        return ()
    before = _members_before(name, context.old)
    return before if before and _members_before(name, context.new) else ()


def _is_only_included(name: Name, side: SideFacts) -> bool:
    """Whether headers were read and tell of a type, but none of the given ones declares it."""
    return bool(side.variants("source", name)) and name not in side.files and not _is_declared(name, side)


def _members_before(name: Name, side: SideFacts) -> tuple[str, ...]:
    """The imported members of the classes that lead to a type; none where anything else of this library does."""
    pending, seen, found = [name], {name}, set[str]()
    while pending:
        each = pending.pop()
        members = () if each == name or side.consumers.offers(each) else imported_members(each, side.exports)
        found.update(members)
        if members:
            continue
        if each.kind in EXPORTS or _is_declared(each, side) or exports_members(each, side.exports):
            return ()
        come = [user for user in side.reach.users(each) if user not in seen]
        seen.update(come)
        pending += come
    return tuple(sorted(found))


def _is_declared(name: Name, side: SideFacts) -> bool:
    return any(isinstance(shape, Declared) for shape in side.variants("source", name))


def _is_left_to_others(name: Name, asked: Sequence[str], context: Context) -> bool:
    """Whether a library that is linked with no other leaves a type to whoever links programs with it.

    Both releases import the members, so that no object file was forgotten; and neither is the header given, nor does
    it lie where exports stand: there it may say what programs have to define.
    """
    side = context.old
    file = side.files.get(name, "")
    if not file or is_source(file) or _is_given(name, side):
        return False
    if not any(context.new.variants("symbol", Name("import", each)) for each in asked):
        return False
    return folder(file) not in side.own_folders


def _is_given(name: Name, side: SideFacts) -> bool:
    """Whether a given header defines a type: one that is called like the header in which it stands.

    A given header may declare a class beforehand that one of the headers defines which it includes.
    """
    read = side.snapshot.provenance.headers
    if not read or not side.consumers.offers(name):
        return False
    file = side.files.get(name, "")
    return not file or file_name(file) in map(file_name, read.files)


def _needs_others(side: SideFacts) -> bool:
    """Whether the library is linked with any that may define a class, as far as the file tells."""
    needed = side.library.needed if side.library else ()
    return any(library_name(each) not in SYSTEM and not each.startswith(("ld-", "libc.musl")) for each in needed)


def _is_laid_out_here(name: Name, side: SideFacts) -> bool:
    """Whether an export passes ``name`` by value, or a class of this library embeds it or derives from it.

    So it is where it does so with a further class of another library that embeds this one. What stands in a header of
    another library is not this one's, copies of inline functions too.
    """
    pending, seen = [name], {name}
    while pending:
        each = pending.pop()
        for user in side.reach.users(each):
            if not any(_uses_layout(shape, user, each) for shape in side.snapshot.described(user)):
                continue
            if user.kind in EXPORTS:
                symbols = side.variants("symbol", user)
                if symbols and not (is_weak(symbols) and user in side.borrowed):
                    return True
            elif (
                isinstance(side.shape(user), Record) and side.consumers.can_see(user) and not _is_elsewhere(user, side)
            ):
                return True
            elif user not in seen:
                seen.add(user)
                pending.append(user)
    return False


def _uses_layout(shape: AnyShape, user: Name, name: Name) -> bool:
    return name in embedded(shape) or (name, True) in references(shape, user)


def _is_elsewhere(name: Name, side: SideFacts) -> bool:
    """Whether the library imports members of a class, or headers leave these to a library and it exports none."""
    if name in side.borrowed or imported_members(name, side.exports):
        return True
    if _is_only_included(name, side) and _members_before(name, side):
        return True
    members = [each for each in side.reach.users(name) if _is_member(each, name, side)]
    return any(_is_left_out(each, side) for each in members) and not any(
        side.variants("symbol", each) for each in members
    )


def _is_member(function: Name, owner: Name, side: SideFacts) -> bool:
    methods = (each.method for each in side.snapshot.described(function) if isinstance(each, Function))
    return any(method is not None and method.owner == owner for method in methods)


def _is_left_out(member: Name, side: SideFacts) -> bool:
    """Whether a header declares a member function that a source file has to define."""
    for shape in side.variants("source", member):
        if isinstance(shape, Declared) and (shape.body or not COPIED.isdisjoint(shape.traits)):
            return False
        if isinstance(shape, Function) and shape.method is not None:
            method = shape.method
            if method.deleted or method.defaulted or method.virtual == "pure" or method.access == "private":
                return False
    return bool(side.variants("source", member))
