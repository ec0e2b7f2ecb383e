"""Exported functions and variables as their users were compiled against them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.entries.lines import source_file
from abistore.extract.dwarf.names.spellings import C
from abistore.extract.dwarf.shapes.records import ACCESS, PURE, vtable_slot
from abistore.extract.dwarf.shapes.signatures import NOTHING, Signature, read_signature
from abistore.model.cpp_names.qualified import last_component
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.shapes import Access, Function, Method, Variable
from abistore.model.words.files import is_source, may_be_private
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.dwarf.bytes.forms import Attributes
    from abistore.extract.dwarf.entries.scopes import Scope
    from abistore.extract.dwarf.entries.walk import Die
    from abistore.extract.dwarf.shapes.types import TypeReferences


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
