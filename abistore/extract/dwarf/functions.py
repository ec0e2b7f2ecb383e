"""Exported functions and variables, joined with their definitions in other units, and access of nested types."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.encoding import Attributes
from abistore.extract.dwarf.names import CPP, C, spelling_of_base
from abistore.extract.dwarf.records import (
    ACCESS,
    NOTHING,
    PURE,
    Signature,
    TypeSource,
    arguments_in,
    default_access,
    read_signature,
    vtable_slot,
)
from abistore.extract.dwarf.types import MAX_DEPTH, SORTS, TypeReferences
from abistore.extract.dwarf.units import source_file
from abistore.extract.dwarf.walk import Die, name_at, parameter_types, parts, tagged
from abistore.extract.types import Derivability, is_foreign
from abistore.model.declarations import Name
from abistore.model.names.qualified import last_component, primitive
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import Access, Enum, Foreign, Function, Method, Opaque, Record, Variable
from abistore.model.snapshot import Target
from abistore.model.words import is_source, may_be_private
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.dwarf.instances import ShownMembers
    from abistore.extract.dwarf.walk import Scope

PRODUCER: Final = pattern(r"GNU C\+\+\S* (\d+)\.|(?:\w+ )?clang version (\d+)\.")
OLDEST_GCC, OLDEST_CLANG = 8, 14
"""The first versions that were seen to tell the access of nested types; Apple numbers its Clang otherwise."""

MEMBERS: Final = frozenset(
    {
        *dw.RECORD_TAGS,
        dw.TAG_INHERITANCE,
        dw.TAG_MEMBER,
        dw.TAG_SUBPROGRAM,
        dw.TAG_TYPEDEF,
        dw.TAG_VARIABLE,
    }
)
SIGNATURES: Final = frozenset({dw.TAG_SUBPROGRAM, dw.TAG_SUBROUTINE_TYPE})
FUNCTIONS: Final = frozenset({dw.TAG_SUBPROGRAM})
DEEPEST: Final = 20
"""How many pointers, typedefs and classes a member is followed through."""


@cache
def tells_default(producer: str | None, tag: int) -> bool:
    """Whether a nested type that says nothing of its access has the default one of its class.

    Clang 14 tells the access of nested classes, and of enumerations and typedefs nothing.
    """
    match = PRODUCER.match(producer or "")
    if match is None or (producer or "").startswith("Apple"):
        return False
    if match[1]:
        return int(match[1]) >= OLDEST_GCC
    return int(match[2]) >= OLDEST_CLANG and tag in dw.RECORD_TAGS


class NestedTypes:
    """Which nested types are closed to consumers, by the definitions of the classes around them.

    ``private: class Node {...};`` is private where no accessible member of the class takes, returns, holds, derives
    from or renames a ``Node``; ``auto node = list.first();`` needs no name. A protected type is as good as a public
    one, unless nobody can derive from the class. Where no unit defines the class, nothing is known.
    """

    def __init__(self, types: TypeSource) -> None:
        self._types = types
        self._definitions: dict[str, int | None] = {}
        self._shown: dict[int, frozenset[str]] = {}
        self._derivable: dict[int, bool] = {}
        self._known: dict[int, Access] = {}
        self._named: dict[Name, Access] = {}
        self._behind: dict[int, tuple[str, ...]] = {}

    def told(self, name: Name, handle: int, shape: Record | Enum) -> Record | Enum:
        """``shape`` with the access of its type, as the first unit that describes it tells."""
        if name not in self._named:
            self._named[name] = self.access(handle)
        return shape if self._named[name] == "public" else replace(shape, access=self._named[name])

    def access(self, handle: int) -> Access:
        """The access that consumers have to the type ``handle``."""
        found = self._known.get(handle)
        if found is None:
            self._known[handle] = "public"  # what a damaged entry finds that is within itself
            found = self._known[handle] = self._access(handle)
        return found

    def _access(self, handle: int) -> Access:
        outer = self._class_around(handle)
        if outer is None:
            return "public"
        die, attributes = self._types.info.die(outer), self._types.info.attributes(handle)
        own = self._own_access(handle, die)
        around = self.access(outer)
        if own == "public" and around == "public":
            return "public"
        shown = self._shown_around(handle, own == "protected")
        spelling = self._types.spellings.of(handle, attributes)
        if shown is None or spelling is None or any(spelling in each for each in shown):
            return "public"
        return around if own == "public" else own

    def _class_around(self, handle: int) -> int | None:
        scope = self._types.info.scope(handle)
        outer = scope[-1] if scope else None
        if isinstance(outer, int) and self._types.info.entry(outer)[1].tag in dw.RECORD_TAGS:
            return outer
        return None

    def _own_access(self, handle: int, outer: Die) -> Access:
        unit, abbreviation, _, attributes = self._types.info.die(handle)
        told = ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0))
        if told is not None:
            return told
        return default_access(outer) if tells_default(unit.producer, abbreviation.tag) else "public"

    # --- what the classes around show -----------------------------------------------------------------------------

    def _shown_around(self, handle: int, protected: bool) -> frozenset[str] | None:
        """What accessible members of the classes around mention; ``None`` where one is defined nowhere.

        Or where one lets everybody derive from it, who has then access to what is ``protected``.
        """
        found = frozenset[str]()
        outer = self._class_around(handle)
        while outer is not None:
            if protected or self.access(outer) == "public":
                definition = self._definition(outer)
                if definition is None or (protected and self._is_derivable(definition)):
                    return None
                found |= self._shown_by(definition)
            outer, protected = self._class_around(outer), False
        return found

    def _definition(self, handle: int) -> int | None:
        attributes = self._types.info.attributes(handle)
        spelling = self._types.spellings.of(handle, attributes)
        if spelling is None:
            return None
        if spelling not in self._definitions:
            declared = dw.AT_DECLARATION in attributes
            self._definitions[spelling] = self._elsewhere(spelling, attributes) if declared else handle
        return self._definitions[spelling]

    def _elsewhere(self, spelling: str, attributes: Attributes) -> int | None:
        info = self._types.info
        for each in info.definitions(attributes.get(dw.AT_NAME, "")):
            if self._types.spellings.of(each, info.attributes(each)) == spelling:
                return each
        return None

    def _shown_by(self, record: int) -> frozenset[str]:
        """What accessible members of a class mention, by name."""
        if record not in self._shown:
            self._shown[record] = frozenset(self._mentions(record, record, 0))
        return self._shown[record]

    def _mentions(self, record: int, outermost: int, depth: int) -> Iterator[str]:
        """The same for a class in the ``outermost``, whose members say whether programs get at protected ones."""
        if depth > DEEPEST:
            return
        unit, abbreviation, position, _ = die = self._types.info.die(record)
        default = default_access(die)
        for handle, child, start in tagged(unit, position, MEMBERS) if abbreviation.has_children else ():
            after, attributes = child.decode(unit.data, start, unit)
            access = ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), default)
            if access == "private" or (access == "protected" and not self._is_derivable(outermost)):
                continue
            if child.tag in dw.RECORD_TAGS:
                yield from self._mentions(handle, outermost, depth + 1)
            elif child.tag in SIGNATURES:
                yield from self._in_signature((unit, child, after, attributes), depth)
            else:
                yield from self._types_of(attributes.get(dw.AT_TYPE, -1), depth + 1)

    def _is_derivable(self, record: int) -> bool:
        if record not in self._derivable:
            self._derivable[record] = self._lets_derive(record)
        return self._derivable[record]

    def _lets_derive(self, record: int) -> bool:
        found, die = Derivability(), self._types.info.die(record)
        default, name = default_access(die), str(die[3].get(dw.AT_NAME, "")).partition("<")[0]
        unit, abbreviation, position, _ = die
        for _, child, start in tagged(unit, position, FUNCTIONS) if abbreviation.has_children else ():
            called = name_at(unit, child, start)
            if called in (name, f"~{name}"):
                after, attributes = child.decode(unit.data, start, unit)
                private = ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), default) == "private"
                usable = not private and dw.AT_DELETED not in attributes
                copies = self._copies((unit, child, after, attributes), record)
                found.add(usable, destroys=called != name, copies=copies)
        return bool(found)

    def _copies(self, constructor: Die, record: int) -> bool:
        """Whether a constructor takes nothing but a reference to its own class: no other copies are made implicitly."""
        taken = parameter_types(constructor)
        if len(taken) != 1:
            return False
        return [self._types.spellings.of(record, self._types.info.attributes(record))] == [*self._types_of(taken[0], 0)]

    def _types_of(self, handle: int, depth: int) -> tuple[str, ...]:
        """The named types behind an entry, worked out once: members of all classes take the same few types."""
        if handle < 0:
            return ()
        found = self._behind.get(handle)
        if found is None:
            self._behind[handle] = ()  # where a damaged type leads to itself
            found = self._behind[handle] = tuple(self._led_to(handle, depth))
        return found

    def _led_to(self, handle: int, depth: int) -> Iterator[str]:
        """The entry itself if it is a named type, else those behind its type and its parameters."""
        die = self._types.info.die(handle)
        tag, attributes = die[1].tag, die[3]
        if tag in dw.COMPOSITE_TAGS:
            if spelling := self._types.spellings.of(handle, attributes):
                yield spelling
            return
        if tag in SIGNATURES:
            yield from self._in_signature(die, depth)
        elif depth <= DEEPEST:
            yield from self._types_of(attributes.get(dw.AT_TYPE, -1), depth + 1)

    def _in_signature(self, die: Die, depth: int) -> Iterator[str]:
        for each in (die[3].get(dw.AT_TYPE, -1), *parameter_types(die)) if depth <= DEEPEST else ():
            yield from self._types_of(each, depth + 1)


LAID_OUT: Final = frozenset({dw.TAG_MEMBER, dw.TAG_INHERITANCE})
WORDS: Final = frozenset({dw.TAG_POINTER_TYPE, dw.TAG_REFERENCE_TYPE, dw.TAG_RVALUE_REFERENCE_TYPE})
SCALARS: Final = frozenset({dw.TAG_BASE_TYPE, dw.TAG_ENUMERATION_TYPE})


class Footprints:
    """Sizes and alignments of foreign types, found once per name and without entering them into the snapshot."""

    def __init__(self, types: TypeReferences, target: Target) -> None:
        self._types = types
        self._target = target
        self._alignments: dict[int, int] = {}

    def shape(self, handle: int) -> Foreign:
        """The foreign type that the DIE ``handle`` defines."""
        types = self._types
        _, abbreviation, _, attributes = die = types.info.die(handle)
        return Foreign(
            SORTS[abbreviation.tag],
            attributes.get(dw.AT_BYTE_SIZE),
            self._of(handle, die) or None,
            tuple(arguments_in(types, die)),
        )

    def alignment(self, attributes: Attributes, depth: int = 0) -> int:
        """The natural alignment in bytes of an entry's type; 0 where that embeds what its unit only declares."""
        handle = attributes.get(dw.AT_TYPE, -1)
        if handle < 0 or depth > MAX_DEPTH:
            return 1
        found = self._alignments.get(handle)
        if found is None:
            found = self._alignments[handle] = self._of(handle, self._types.info.die(handle), depth)
        return found

    def _of(self, handle: int, die: Die, depth: int = 0) -> int:
        unit, abbreviation, _, attributes = die
        tag = abbreviation.tag
        asked = int(attributes.get(dw.AT_ALIGNMENT, 1))
        if tag in dw.RECORD_TAGS:
            if attributes.get(dw.AT_SIGNATURE, handle) not in (handle, -1):
                return self.alignment({dw.AT_TYPE: attributes[dw.AT_SIGNATURE]}, depth + 1)
            whole = dw.AT_DECLARATION not in attributes
            for _, _, part in parts(die, LAID_OUT):
                is_static = dw.AT_EXTERNAL in part or dw.AT_DECLARATION in part
                if not is_static:
                    natural = self.alignment(part, depth + 1)
                    asked = max(asked, part.get(dw.AT_ALIGNMENT, 1), natural)
                    whole = whole and natural > 0
            return asked if whole else 0
        if tag in WORDS:
            return self._scalar("*", unit.address_size)
        if tag == dw.TAG_PTR_TO_MEMBER_TYPE:
            return unit.address_size
        if tag in SCALARS:
            return max(asked, self._scalar(spelling_of_base(unit, attributes), int(attributes.get(dw.AT_BYTE_SIZE, 0))))
        natural = self.alignment(attributes, depth + 1)
        return max(asked, natural) if natural else 0

    def _scalar(self, spelling: str, size: int) -> int:
        """The alignment in bytes of a built-in type, enumeration or pointer inside a record."""
        from abistore.model.layout import primitive_alignment  # C libraries mention no foreign types

        return primitive_alignment(primitive(spelling, size), self._target) or 1


ASSEMBLY: Final = 0x8001
"""DW_LANG_Mips_Assembler, which all assemblers use."""

RUST: Final = 0x1C

PER_VARIANT: Final = frozenset(
    {dw.AT_LOW_PC, dw.AT_RANGES, dw.AT_ABSTRACT_ORIGIN, dw.AT_SPECIFICATION, dw.AT_LINKAGE_NAME, dw.AT_OBJECT_POINTER,
     dw.AT_DECL_FILE, dw.AT_DECL_LINE, dw.AT_EXTERNAL, dw.AT_INLINE}
)  # fmt: skip
"""The attributes of an instance that say nothing about how it is called."""

LEAST: Final = pattern(r" -g(?:gdb|dwarf)?1(?= (?!.*-g(?:gdb|dwarf)?[23]?(?: |$))|$)")
"""GCC's own word for the least debug information, unless a later one asks for more."""

WRITTEN_INLINE: Final = frozenset({2, 3})
"""DW_INL_declared_not_inlined and DW_INL_declared_inlined."""

PLACED: Final = frozenset({dw.AT_EXTERNAL, dw.AT_DECL_FILE})

VARIANT: Final = pattern("[CD](?=[0-5])")
"""Before the digit that tells the variants of a constructor or destructor apart (Itanium C++ ABI, 5.1.4.3)."""

CONVENTIONS: Final = {
    0x01: None, 0x02: "program", 0x03: "nocall",
    0x40: "gnu_renesas_sh", 0x41: "gnu_borland_fastcall",
    0xB0: "fastcall", 0xB1: "thiscall", 0xB2: "pascal", 0xB3: "stdcall",
    0xC0: "vectorcall", 0xC1: "ms_abi", 0xC2: "sysv_abi", 0xC3: "aapcs", 0xC4: "aapcs_vfp", 0xC5: "intel_ocl_bicc",
    0xC6: "spir_function", 0xC7: "opencl_kernel", 0xC8: "swiftcall", 0xC9: "preserve_most", 0xCA: "preserve_all",
    0xCB: "regcall", 0xCC: "m68k_rtd", 0xCD: "preserve_none", 0xCE: "riscv_vector_call", 0xCF: "swifttail",
    0xFF: "gdb_ibm_opencl",
}  # fmt: skip
"""DW_CC_* codes by the name of the attribute that asks for them; ``None`` is the platform's own convention."""


@cache
def is_least(producer: str | None) -> bool:
    """Whether a compiler was asked for the least debug information."""
    asked = producer or ""
    return any(f" {option}1" in asked for option in ("-g", "-ggdb", "-gdwarf")) and LEAST.search(asked) is not None


class DeclaringEntries:
    """A function's or variable's DIE, and those it completes: abstract instance and declaration, nearest first."""

    __slots__ = ("_scope", "attributes", "declared", "dies", "handle", "types")

    def __init__(self, types: TypeReferences, handle: int, die: Die, declared: DeclaringEntries | None) -> None:
        self.types = types
        self.handle = handle
        self.declared = declared
        self.dies: list[Die] = [die] if declared is None else [die, *declared.dies]
        self.attributes: Attributes = die[3] if declared is None else {**declared.attributes, **die[3]}
        self._scope: Scope | None = None

    @property
    def symbol(self) -> str:
        """The name that the linker is to see: mangled where recorded, else the source name."""
        found: str = self.attributes.get(dw.AT_LINKAGE_NAME) or self.attributes.get(dw.AT_NAME, "")
        return found

    @property
    def is_function(self) -> bool:
        """Whether it describes code."""
        return self.dies[0][1].tag == dw.TAG_SUBPROGRAM

    @property
    def is_bare(self) -> bool:
        """Whether it tells a name and an address and no types: an assembler made it, or ``-g1`` was asked for.

        GCC and rustc then still say where a function is declared, and Clang not even whether other units see it.
        """
        unit = self.dies[0][0]
        if unit.language == ASSEMBLY or is_least(unit.producer):
            return True
        if not self.is_function:
            return dw.AT_TYPE not in self.attributes
        if unit.language == RUST:
            return all(each.tag != dw.TAG_BASE_TYPE for each in unit.table)
        return PLACED.isdisjoint(self.attributes)

    @property
    def is_made_by_compiler(self) -> bool:
        """Whether no source declares it: ``__tls_init``, of which ``_ZTH`` symbols are aliases."""
        return dw.AT_ARTIFICIAL in self.attributes

    @property
    def scope(self) -> Scope:
        """What encloses the declaration, which the variants of one constructor share."""
        if self._scope is None:
            self._scope = self.declared.scope if self.declared else self.types.info.scope(self.handle)
        return self._scope

    def stands_for(self, symbol: str) -> bool:
        """Whether ``symbol`` is its own name: exactly, or as another variant of its constructor or destructor."""
        own = self.symbol
        if own == symbol:
            return True
        places = [match.end() for match in VARIANT.finditer(own)]
        if not any(own[:place] == symbol[:place] and own[place + 1 :] == symbol[place + 1 :] for place in places):
            return False
        name = self.attributes.get(dw.AT_NAME, "")
        return bool(name.startswith("~")) or last_component(self.types.spellings.spell(self.scope)) == name

    def display(self) -> str:
        """The qualified source name."""
        spellings, named = self.types.spellings, self
        while dw.AT_NAME not in named.dies[0][3]:
            if named.declared is None:
                return spellings.join(self.scope, "")
            named = named.declared
        return spellings.join(self.scope, spellings.complete(named.handle, named.attributes[dw.AT_NAME]))

    def owner(self) -> tuple[Name, Access] | None:
        """The class that it is a member of, and its access there; ``None`` at namespace scope."""
        if not self.scope or not isinstance(self.scope[-1], int):
            return None
        owner = self.types.owner(self.scope[-1])
        if owner is None:
            return None
        return owner[0], ACCESS.get(self.attributes.get(dw.AT_ACCESSIBILITY, 0), owner[1])

    def location(self) -> tuple[str, int]:
        """Where it is first declared.

        A C function that a header defines is part of the source file that includes it (``#include "main_impl.h"``):
        were there two such files, the linker would refuse them. Who declares it is as open as elsewhere.
        """
        for die in reversed(self.dies):
            file, line = self.types.locate(die[0], die[3])
            if file:
                source = source_file(die[0]) if may_be_private(file) and self._is_body(die) else ""
                return (source, 0) if is_source(source) and not is_source(file) else (file, line)
        return "", 0

    def _is_body(self, die: Die) -> bool:
        """Whether ``die`` defines a C function that was not written to be inline."""
        inline = die[3].get(dw.AT_INLINE, 0) in WRITTEN_INLINE
        return self.is_function and dw.AT_DECLARATION not in die[3] and not inline and not is_mangled(self.symbol)


class DeclarationShapes:
    """The shapes of functions and variables. The variants of one constructor or destructor share theirs."""

    def __init__(self, types: TypeReferences) -> None:
        self._types = types
        self._declared: dict[int, DeclaringEntries | None] = {-1: None}
        self._shared: dict[tuple[int, bool], Function | Variable] = {}

    def declarations(self, handle: int) -> DeclaringEntries:
        """What the DIE ``handle`` says, together with those that it is an instance or a definition of."""
        die = self._types.info.die(handle)
        completed = die[3].get(dw.AT_ABSTRACT_ORIGIN, -1)
        if completed < 0:
            completed = die[3].get(dw.AT_SPECIFICATION, -1)
        if completed not in self._declared:
            self._declared[completed] = None  # ends a chain that comes back to itself
            self._declared[completed] = self.declarations(completed)
        return DeclaringEntries(self._types, handle, die, self._declared[completed])

    def of(self, declarations: DeclaringEntries) -> Function | Variable:
        """What the users of an exported function or variable were compiled against."""
        if declarations.declared is None or not declarations.dies[0][3].keys() <= PER_VARIANT:
            return self._read(declarations)
        key = declarations.declared.handle, declarations.is_function
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = self._read(declarations)
        return found

    def _read(self, declarations: DeclaringEntries) -> Function | Variable:
        return read_function(declarations) if declarations.is_function else read_variable(declarations)


def own(symbol: str, candidates: list[DeclaringEntries]) -> DeclaringEntries | None:
    """The one of several DIEs at a symbol's address that is of this name."""
    for candidate in candidates:
        if candidate.symbol == symbol:
            return candidate
    for candidate in candidates:
        if candidate.stands_for(symbol):
            return candidate
    return None


def alias(symbol: str, candidates: list[DeclaringEntries]) -> DeclaringEntries | None:
    """The one of several DIEs of other names at a symbol's address that describes it.

    A mangled symbol at the address of code with another mangled name is there because a linker folded identical code,
    and what describes the one would be wrong about the other. Names that are not mangled are aliases.
    """
    for candidate in candidates:
        if not (is_mangled(symbol) and is_mangled(candidate.symbol)):
            return candidate
    return None


def read_function(declarations: DeclaringEntries) -> Function:
    """The shape of an exported function."""
    types, attributes = declarations.types, declarations.attributes
    signature = _signature(declarations)
    prototyped = dw.AT_PROTOTYPED in attributes or declarations.dies[0][0].language not in C
    convention = attributes.get(dw.AT_CALLING_CONVENTION, 0x01)
    return Function(
        display=declarations.display(),
        result=types.of(attributes),
        parameters=signature.parameters,
        variadic=signature.variadic and prototyped,
        noreturn=dw.AT_NORETURN in attributes,
        prototyped=prototyped,
        calling_convention=CONVENTIONS.get(convention, f"convention {convention:#x}"),
        method=_method(declarations, signature),
    )


def read_variable(declarations: DeclaringEntries) -> Variable:
    """The shape of an exported data object."""
    owner = declarations.owner()
    type = declarations.types.of(declarations.attributes)
    display = declarations.display()
    return Variable(display, type) if owner is None else Variable(display, type, *owner)


def _signature(declarations: DeclaringEntries) -> Signature:
    """The parameters as declared; as defined where the declaration has none."""
    for die in reversed(declarations.dies):
        signature = read_signature(declarations.types, die)
        if signature != NOTHING:
            return signature
    return NOTHING


def _method(declarations: DeclaringEntries, signature: Signature) -> Method | None:
    owner = declarations.owner()
    if owner is None:
        return None
    attributes = declarations.attributes
    virtuality = attributes.get(dw.AT_VIRTUALITY, 0)
    return Method(
        *owner,
        static=signature.this is None and dw.AT_OBJECT_POINTER not in attributes,
        virtual="pure" if virtuality == PURE else "virtual" if virtuality else "no",
        slot=None if attributes.get(dw.AT_NAME, "").startswith("~") else vtable_slot(attributes),
        qualifiers=signature.this_qualifiers,
        reference="&" if dw.AT_REFERENCE in attributes else "&&" if dw.AT_RVALUE_REFERENCE in attributes else "",
        explicit=dw.AT_EXPLICIT in attributes,
        deleted=dw.AT_DELETED in attributes,
        defaulted=dw.AT_DEFAULTED in attributes,
    )


class DeclarationJoins:
    """Finds what a unit only declares: at namespace scope of another, or in another copy of the enclosing class.

    GCC emits a nested class in full only in the units that use it, and a class with a key function only where that is.
    """

    def __init__(self, types: TypeReferences) -> None:
        self._types = types
        self._tried: set[Name] = set()
        self._opaque: dict[Name, Opaque] = {}

    @cached_property
    def _has_cpp(self) -> bool:
        """Whether a unit is of C++; the records of C have no members but their fields."""
        return any(unit.language in CPP for unit in self._types.info.units)

    @cached_property
    def _members(self) -> ShownMembers:
        from abistore.extract.dwarf.instances import ShownMembers  # C++ alone

        return ShownMembers(self._types)

    def next_round(self) -> bool:
        """Looks for the definitions of names that were newly declared; whether there were any."""
        types = self._types
        fresh = [name for name in types.declared if name not in self._tried and not types.is_defined(name)]
        self._tried.update(fresh)
        for name in fresh:
            handle, found = types.declared[name].handle, False
            for definition in self._definitions(handle):
                types.reference(definition)
                found = True
                if name in types.foreign:
                    break
            if not found and name.kind == "record" and self._has_cpp:
                self._opaque[name] = self._members.shape(name, "class", handle)
        return bool(fresh)

    def close(self) -> None:
        """Enters what is declared and defined nowhere: opaque, or foreign without a size."""
        types = self._types
        undefined = {name: each for name, each in types.declared.items() if not types.is_defined(name)}
        needed = self._needed() if undefined else ()
        for name, declared in undefined.items():
            sort = min(declared.sorts)
            if is_foreign(name.spelling, types.runtime):
                types.add(name, Foreign(sort, None, None))
            else:
                shown = self._opaque.get(name, Opaque(sort))
                types.add(name, replace(shown, sort=sort, defined=shown.defined or name in needed))

    def _needed(self) -> Collection[Name]:
        """The types of objects, which units of C++ cannot do without."""
        if not self._has_cpp:
            return ()
        from abistore.extract.dwarf.instances import needed_whole  # C++ alone

        return needed_whole(self._types.entries)

    def _definitions(self, handle: int) -> Iterator[int]:
        """The definitions of what ``handle`` declares."""
        types, info = self._types, self._types.info
        attributes = info.attributes(handle)
        spelling = types.spellings.of(handle, attributes)
        while dw.AT_NAME not in attributes and attributes.get(dw.AT_SPECIFICATION, -1) >= 0:
            handle = attributes[dw.AT_SPECIFICATION]
            attributes = info.attributes(handle)
        plain = attributes.get(dw.AT_NAME)
        if plain is None:
            return
        for candidate in info.definitions(plain):
            if types.spellings.of(candidate, info.attributes(candidate)) == spelling:
                yield candidate
        scope = info.scope(handle)
        if scope and isinstance(scope[-1], int):
            for enclosing in self._definitions(scope[-1]):
                found = self._member(enclosing, plain)
                if found is not None:
                    yield found
                    return

    def _member(self, enclosing: int, plain: str) -> int | None:
        """The definition of the type ``plain`` among the members of a class."""
        for handle, _, attributes in parts(self._types.info.die(enclosing), dw.COMPOSITE_TAGS):
            if attributes.get(dw.AT_NAME) == plain and dw.AT_DECLARATION not in attributes:
                return handle
        return None
