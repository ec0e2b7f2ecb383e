"""Members of records and enumerations, which of them comments make private, functions, and access of nested types."""

from __future__ import annotations

import ast
import operator
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Literal

from msgspec.structs import replace

from abistore.extract.headers import cursors
from abistore.extract.headers.classes import BITS, BaseClass, Classes, ClassFacts
from abistore.extract.headers.collected import PublicFiles
from abistore.extract.headers.cursors import Cursor, LibClang, Type
from abistore.extract.headers.tokens import SourceText
from abistore.extract.headers.types import HeaderTypes
from abistore.extract.types import OPEN, PUBLIC, Derivability
from abistore.model.declarations import Kind, Name
from abistore.model.layout import is_open_by_parts
from abistore.model.names.qualified import normal_name
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import qualifiers, with_external_linkage
from abistore.model.shapes import (
    VOID,
    Access,
    Base,
    Enum,
    Enumerator,
    Field,
    Foreign,
    Function,
    Method,
    Named,
    Procedure,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)

DERIVABLE: Final = "\0derivable"
"""Stands among what a class shows; no type is spelled so."""

MENTIONING: Final = frozenset(
    {
        *cursors.FUNCTIONS,
        cursors.FIELD,
        cursors.VARIABLE,
        cursors.TYPEDEF,
        cursors.ALIAS,
        cursors.BASE,
        cursors.FUNCTION_TEMPLATE,
    }
)
"""What may give programs an object of a type that they cannot name."""


class NestedCursors:
    """Which nested types are closed to consumers: as debug information tells it, and of ``final`` classes besides."""

    def __init__(self, lib: LibClang) -> None:
        self._lib = lib
        self._shown: dict[int, frozenset[str]] = {}

    def access(self, cursor: Cursor) -> Access:
        """The access that consumers have to a record or enumeration."""
        lib = self._lib
        outer: Cursor = lib.getCursorSemanticParent(cursor)
        if outer.kind not in cursors.RECORDS:
            return "public"
        own = cursors.ACCESS.get(lib.getCXXAccessSpecifier(self._written(cursor)), "public")
        around = self.access(outer)
        if own == around == "public" or (own == "protected" and DERIVABLE in self._shown_by(outer)):
            return "public"
        spelling = lib.type_name(lib.getCanonicalType(lib.getCursorType(cursor)))
        while outer.kind in cursors.RECORDS:
            if self.access(outer) == "public" and any(spelling in each for each in self._shown_by(outer)):
                return "public"
            outer = lib.getCursorSemanticParent(outer)
        return around if own == "public" else own

    def _written(self, cursor: Cursor) -> Cursor:
        """What has the access of a type: of an instance of a template it is the template."""
        template = self._lib.getSpecializedCursorTemplate(cursor)
        while template.kind not in cursors.NOTHING:
            cursor, template = template, self._lib.getSpecializedCursorTemplate(template)
        return cursor

    def _shown_by(self, outer: Cursor) -> frozenset[str]:
        """What accessible members of a class mention; :data:`DERIVABLE` where anybody can derive from it."""
        found = self._shown.get(outer.d0)
        if found is None:
            definition = self._lib.getCursorDefinition(outer)
            derivable = self._is_derivable(definition)
            shown = self._mentions(definition, OPEN if derivable else PUBLIC)
            found = self._shown[outer.d0] = frozenset((*shown, *([DERIVABLE] if derivable else ())))
        return found

    def _mentions(self, record: Cursor, accessible: frozenset[Access]) -> Iterator[str]:
        lib = self._lib
        for each in lib.children(record):
            if cursors.ACCESS.get(lib.getCXXAccessSpecifier(each), "public") not in accessible:
                continue
            if each.kind in cursors.CLASSES:
                yield from self._mentions(each, accessible)
            elif each.kind in MENTIONING:
                yield lib.type_name(lib.getCanonicalType(lib.getCursorType(each)))

    def _is_derivable(self, record: Cursor) -> bool:
        lib = self._lib
        found, final = Derivability(), False
        for each in lib.children(record):
            final = final or each.kind == cursors.FINAL_ATTRIBUTE
            if each.kind in cursors.STRUCTORS:
                private = cursors.ACCESS.get(lib.getCXXAccessSpecifier(each), "public") == "private"
                copies = lib.CXXConstructor_isCopyConstructor(each) or lib.CXXConstructor_isMoveConstructor(each)
                usable = not private and not lib.CXXMethod_isDeleted(each)
                found.add(usable, destroys=each.kind == cursors.DESTRUCTOR, copies=bool(copies))
        return bool(found) and not final


NORETURN = "__attribute__((noreturn))"
SAYS_NORETURN = re.compile(r"\[\[(?:\w+::)?_?_?noreturn_?_?\]\]|\b_Noreturn\b|__attribute__\(\(noreturn\)\)")
CALLED = frozenset({cursors.METHOD, cursors.CONVERSION})


class FunctionShapes:
    """Reads the shapes of functions and variables."""

    def __init__(self, types: HeaderTypes, classes: Classes) -> None:
        self._types = types
        self._lib = types.lib
        self._classes = classes

    def names(self, cursor: Cursor) -> list[Name]:
        """The names under which the linker sees a function or variable: all variants of a constructor.

        What each program has for itself, such as a constant, is called as if the linker saw it.
        """
        lib = self._lib
        kind: Kind = "variable" if cursor.kind == cursors.VARIABLE else "function"
        if cursor.kind in cursors.STRUCTORS:
            return [Name(kind, symbol) for symbol in lib.mangled(cursor)]
        symbol = with_external_linkage(lib.linked(cursor))
        return [Name(kind, symbol)] if symbol else []

    def function(self, cursor: Cursor) -> Function:
        """The shape of a function, member or not."""
        lib = self._lib
        type: Type = lib.getCursorType(cursor)
        count = max(0, lib.getNumArgTypes(type))
        made = cursor.kind in cursors.STRUCTORS
        return Function(
            display=self._types.names.of(cursor),
            result=VOID if made else self._types.of(lib.getResultType(type)),
            parameters=tuple([self._types.parameter(lib.getArgType(type, index)) for index in range(count)]),
            variadic=bool(lib.isFunctionTypeVariadic(type)) and type.kind != cursors.FUNCTION_NO_PROTOTYPE,
            noreturn=self._stops(cursor, type),
            prototyped=type.kind != cursors.FUNCTION_NO_PROTOTYPE,
            calling_convention=cursors.CONVENTIONS.get(lib.getFunctionTypeCallingConv(type)),
            method=self._method(cursor, type),
        )

    def variable(self, cursor: Cursor) -> Variable:
        """The shape of a data object."""
        lib = self._lib
        type = self._types.of(lib.getCursorType(cursor))
        display = self._types.names.of(cursor)
        owner = self._owner(cursor)
        if owner is None:
            return Variable(display, type)
        return Variable(display, type, owner, cursors.ACCESS.get(lib.getCXXAccessSpecifier(cursor), "public"))

    def _stops(self, cursor: Cursor, type: Type) -> bool:
        """Whether the function never returns: as its type, or as an attribute of C or C++ says it."""
        lib = self._lib
        if NORETURN in lib.text(lib.getTypeSpelling(type)):
            return True
        if not lib.Cursor_hasAttrs(cursor):
            return False
        return SAYS_NORETURN.search(lib.text(lib.getCursorPrettyPrinted(cursor, None)).partition("{")[0]) is not None

    def _owner(self, cursor: Cursor) -> Name | None:
        owner = self._types.names.owner(cursor)
        if owner.kind not in cursors.RECORDS:
            return None
        return Name("record", self._types.names.of(owner))

    def _method(self, cursor: Cursor, type: Type) -> Method | None:
        owner = self._owner(cursor)
        if owner is None:
            return None
        lib = self._lib
        virtual = bool(lib.CXXMethod_isVirtual(cursor))
        words = qualifiers(lib.linked(cursor)) if cursor.kind in CALLED else ()
        return Method(
            owner,
            cursors.ACCESS.get(lib.getCXXAccessSpecifier(cursor), "public"),
            static=bool(lib.CXXMethod_isStatic(cursor)),
            virtual="pure" if virtual and lib.CXXMethod_isPureVirtual(cursor) else "virtual" if virtual else "no",
            slot=self._slot(cursor) if virtual else None,
            qualifiers=tuple(word for word in words if word[0] != "&"),
            reference=("", "&", "&&")[lib.Type_getCXXRefQualifier(type)],
            explicit=bool(lib.CXXMethod_isExplicit(cursor)),
            deleted=bool(lib.CXXMethod_isDeleted(cursor)),
            defaulted=bool(lib.CXXMethod_isDefaulted(cursor)),
        )

    def _slot(self, cursor: Cursor) -> int | None:
        facts = self._classes.of(self._types.names.owner(cursor))
        if facts is None:
            return None
        return facts.slots.methods.get(self._lib.getCanonicalCursor(cursor).d0)


class RecordShapes:
    """Reads the definitions of records. ``cpp`` tells the language; ``padded`` are those with padding at their end,
    ``vast`` those that the compiler is not asked about.

    Members that the language leaves public are private where ``marks`` say so.
    """

    def __init__(self, types: HeaderTypes, classes: Classes, marks: PrivateMarks, *, cpp: bool) -> None:
        self._types = types
        self._lib = types.lib
        self._classes = classes
        self._marks = marks
        self._cpp = cpp
        self._nested = NestedCursors(types.lib)
        self.padded: set[Name] = set()
        self.vast: set[Name] = set()
        classes.resolve = self._resolved

    def of(self, cursor: Cursor) -> Record | None:
        """The shape of the record that ``cursor`` declares; ``None`` where it is not defined or has no layout."""
        facts = self._classes.of(cursor)
        if facts is None or facts.size is None or self._lib.isInvalidDeclaration(facts.cursor):
            return None
        if not self._classes.may_look(facts):
            self._types.references.budget.refused += 1
            return None
        facts.place_bases()
        bases = [self._base(facts, base) for base in facts.bases]
        fields, virtuals, asked = self._fields(facts), self._virtuals(facts), self._asked(facts)
        if facts.is_doubtful or None in bases or virtuals is None or fields is None:
            return None  # an instance of which the template does not tell enough
        if self._cpp and facts.end < BITS * facts.size:
            self.padded.add(Name("record", self._types.names.of(facts.cursor)))
        if facts.is_vast:
            self.vast.add(Name("record", self._types.names.of(facts.cursor)))
        return Record(
            sort=cursors.RECORDS[facts.cursor.kind],
            size=facts.size,
            fields=tuple(fields),
            bases=tuple([each for each in bases if each is not None]),
            virtuals=virtuals,
            alignment=asked,
            deleted=self._deleted(facts),
            arguments=self._types.arguments.references(facts.cursor, facts.type),
            has_vptr=facts.has_vptr,
            access=self._nested.access(facts.cursor),
            packed=asked is not None and asked < self._natural(facts),
        )

    def foreign(self, cursor: Cursor) -> Foreign:
        """The shape of a type of the standard library or the runtime."""
        lib = self._lib
        type = lib.getCursorType(cursor)
        arguments = self._types.arguments.references(cursor, type)
        sort = "enum" if cursor.kind == cursors.ENUM else cursors.RECORDS[cursor.kind]
        return Foreign(sort, lib.size(type), lib.alignment(type), arguments)

    def enum(self, cursor: Cursor) -> Enum | None:
        """The shape of the enumeration that ``cursor`` declares; ``None`` where it is only declared.

        So it is for one within a template, which has a size and values in each instance only.
        """
        lib = self._lib
        definition = lib.getCursorDefinition(cursor)
        integer = lib.getEnumDeclIntegerType(definition)
        size = lib.size(integer) if definition.kind == cursors.ENUM else None
        if size is None:
            return None
        unsigned = lib.getCanonicalType(integer).kind in cursors.UNSIGNED
        value = lib.getEnumConstantDeclUnsignedValue if unsigned else lib.getEnumConstantDeclValue
        enumerators = [
            Enumerator(lib.spelling(each), value(each))
            for each in lib.children(definition)
            if each.kind == cursors.ENUMERATOR
        ]
        return Enum(
            size,
            tuple(enumerators),
            self._types.of(integer),
            bool(lib.EnumDecl_isScoped(definition)),
            self._nested.access(definition),
        )

    def unnamed(self, cursor: Cursor) -> Record | Enum | None:
        """The shape of a record or enum that is spelled out where it is used: the member there tells its access.

        Without a name it has no special members of its own.
        """
        shape = self.enum(cursor) if cursor.kind == cursors.ENUM else self.of(cursor)
        if not isinstance(shape, Record) or not self._cpp:
            return shape if shape is None else replace(shape, access="public")
        tail: Literal["closed"] | None = None if is_open_by_parts(shape) else "closed"
        return replace(shape, access="public", passing="reference" if shape.virtuals else "value", tail=tail)

    # --- members --------------------------------------------------------------------------------------------------

    def _fields(self, facts: ClassFacts) -> list[Field] | None:
        """The fields; ``None`` where one has no place."""
        lib = self._lib
        found = []
        marked = self._marks.of(facts.cursor, facts.fields)
        for field in facts.fields:
            width, offset = lib.width(field), lib.offset(field)
            if offset is None:
                return None
            name = lib.spelling(field)
            type = lib.getCursorType(field)
            if not name.isidentifier() and not self._is_anonymous(type):
                if width is not None:
                    continue
                name = ""
            found.append(
                Field(
                    name if name.isidentifier() else "",
                    self._types.of(type),
                    offset,
                    width,
                    "private" if name in marked else cursors.ACCESS.get(lib.getCXXAccessSpecifier(field), "public"),
                    bool(lib.CXXField_isMutable(field)),
                )
            )
        return found

    def _is_anonymous(self, type: Type) -> bool:
        return bool(self._lib.Cursor_isAnonymous(self._lib.getTypeDeclaration(type)))

    def _base(self, facts: ClassFacts, base: BaseClass) -> Base | None:
        lib = self._lib
        access = cursors.ACCESS.get(lib.getCXXAccessSpecifier(base.specifier), "public")
        type = self._type(facts, lib.getCursorType(base.specifier))
        return None if type is None else Base(type, None if base.virtual else base.offset, base.virtual, access)

    def _type(self, facts: ClassFacts, type: Type) -> TypeRef | None:
        """A type that a class mentions; of an instance, with its arguments for the template's parameters."""
        return self._substituted(facts, type) if facts.is_instance else self._types.of(type)

    def _substituted(self, facts: ClassFacts, type: Type) -> TypeRef | None:
        return self._types.substituted(type, self._bound(facts), facts.cursor, facts.written)

    def _bound(self, facts: ClassFacts) -> Mapping[int, TypeRef]:
        """The arguments of an instance by position; none where the template has packs or another pattern."""
        lib = self._lib
        if facts.written.kind != cursors.CLASS_TEMPLATE or facts.is_template:
            return {}
        parameters = [each for each in facts.members if each.kind in cursors.TEMPLATE_PARAMETERS]
        types = [
            lib.Type_getTemplateArgumentAsType(facts.type, index)
            for index in range(lib.Type_getNumTemplateArguments(facts.type))
        ]
        if len(parameters) != len(types):
            return {}
        return {
            place: self._types.of(lib.getCanonicalType(each))
            for place, each in enumerate(types)
            if each.kind != cursors.INVALID
        }

    def _resolved(self, facts: ClassFacts, type: Type) -> Cursor | None:
        """The class that a base of an instance is: another instance that the headers need, else its template."""
        found = self._substituted(facts, type)
        if isinstance(found, Named):
            known = self._types.mentioned.get(found.name)
            if known is None:
                self._types.unmet[found.name] = None
            elif self._lib.size(self._lib.getCursorType(known)) is not None:
                return known
        template: Cursor = self._lib.getTypeDeclaration(self._lib.getCanonicalType(type))
        return template if template.kind == cursors.CLASS_TEMPLATE else None

    def _virtuals(self, facts: ClassFacts) -> tuple[VirtualMethod, ...] | None:
        """The virtual methods; ``None`` where the template of an instance does not tell their types."""
        found = [self._virtual(facts, method) for method in facts.virtual_methods]
        told = [each for each in found if each is not None]
        return tuple(sorted(told, key=lambda each: each.slot or 0)) if len(told) == len(found) else None

    def _virtual(self, facts: ClassFacts, method: Cursor) -> VirtualMethod | None:
        lib = self._lib
        destructor = method.kind == cursors.DESTRUCTOR
        type = lib.getCursorType(method)
        substituted = self._type(facts, type)
        if not isinstance(substituted, Procedure):
            return None
        return VirtualMethod(
            normal_name(lib.spelling(method)).partition("<")[0] if destructor else self._method_name(method),
            "" if destructor or facts.is_instance else lib.linked(method),
            facts.slots.methods[method.d0],
            substituted.result,
            substituted.parameters,
            bool(lib.CXXMethod_isPureVirtual(method)),
            cursors.ACCESS.get(lib.getCXXAccessSpecifier(method), "public"),
        )

    def _method_name(self, method: Cursor) -> str:
        name = self._lib.spelling(method)
        return name if name.isidentifier() else normal_name(name)

    def _parameters(self, type: Type) -> tuple[TypeRef, ...]:
        lib = self._lib
        count = max(0, lib.getNumArgTypes(type))
        return tuple([self._types.parameter(lib.getArgType(type, index)) for index in range(count)])

    def _deleted(self, facts: ClassFacts) -> tuple[str, ...]:
        lib = self._lib
        found = set()
        for each in facts.members:
            if each.kind in cursors.FUNCTIONS and lib.CXXMethod_isDeleted(each):
                name = lib.spelling(each)
                if each.kind in cursors.STRUCTORS:
                    name = name.partition("<")[0]
                parameters = ", ".join(map(spell, self._parameters(lib.getCursorType(each))))
                found.add(f"{normal_name(name)}({parameters})")
        return tuple(sorted(found))

    def _asked(self, facts: ClassFacts) -> int | None:
        """The alignment that ``alignas`` or an attribute asks for, of the class or of its fields, or packing leaves.

        ``#pragma pack`` is an attribute without a cursor.
        """
        marked = [each for each in (facts.cursor, *facts.fields) if self._lib.Cursor_hasAttrs(each)]
        if any(map(self._is_aligned, marked)) or (marked and facts.alignment < self._natural(facts)):
            return facts.alignment
        return None

    def _is_aligned(self, cursor: Cursor) -> bool:
        return any(each.kind == cursors.ALIGNED_ATTRIBUTE for each in self._lib.children(cursor))

    def _natural(self, facts: ClassFacts) -> int:
        """The alignment that the types of the fields ask for, without that of bases, which compilers never pack."""
        lib = self._lib
        types = (lib.getCanonicalType(lib.getCursorType(each)) for each in facts.fields if lib.width(each) != 0)
        # of a reference libclang tells the alignment of what it refers to
        asked = ((lib.alignment(each) or 1) for each in types if each.kind not in cursors.REFERENCES)
        return max(asked, default=1)


TOLD: Final = 64
"""So many bits of a value libclang tells, the lowest."""

_CAST: Final = r"\(\s*(?:unsigned\s+|signed\s+)?__u?int128(?:_t)?(?:\s+unsigned|\s+signed)?\s*\)"
"""A cast to a type that holds every value. Others make an expression that is not understood."""

_SUFFIX: Final = r"\b(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)\b"
_LONGEST: Final = 4096
_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., int]]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor},
    **{ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert},
}


def exact(enum: Enum, expressions: Mapping[str, str], *, signed: bool) -> Enum | None:
    """``enum`` with the values that the ``expressions`` of its enumerators have; ``None`` where one is not understood.

    ``signed`` is its underlying type. A value is understood only if its lowest bits are those that libclang tells.
    """
    bits = 8 * enum.size
    if bits <= TOLD:
        return enum
    known: dict[str, int] = {}
    value = -1
    for each in enum.enumerators:
        found = _value(expressions[each.name], known) if each.name in expressions else value + 1
        if found is None or (found - each.value) % (1 << TOLD):
            return None
        value = found % (1 << bits)
        if signed and value >> (bits - 1):
            value -= 1 << bits
        known[each.name] = value
    return replace(enum, enumerators=tuple([replace(each, value=known[each.name]) for each in enum.enumerators]))


def _value(text: str, known: Mapping[str, int]) -> int | None:
    """What a constant expression of wide integers and enumerators gives; ``None`` for any other."""
    if len(text) > _LONGEST or (re.search("[-~]", text) and any(map(_may_wrap, re.finditer(_SUFFIX, text)))):
        return None
    plain = re.sub(_SUFFIX, _number, re.sub(_CAST, " ", text))
    try:
        return _result(ast.parse(plain.strip(), mode="eval").body, known)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _may_wrap(match: re.Match[str]) -> bool:
    """Whether a number is unsigned and narrow, or may be, so that what it is subtracted from wraps too early."""
    return "u" in match[2].lower() or int(_number(match), 0) >= 1 << 31


def _number(match: re.Match[str]) -> str:
    digits = match[1].replace("'", "")
    octal = len(digits) > 1 and digits.isdigit() and digits.startswith("0")
    return f"0o{digits[1:]}" if octal else digits


def _result(node: ast.expr, known: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_result(operand, known))
        case ast.BinOp(left=left, op=ast.LShift(), right=right):
            return _result(left, known) << _places(_result(right, known))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_result(left, known), _result(right, known))
    raise ValueError(ast.dump(node))


def _places(count: int) -> int:
    if not 0 <= count < 2 * TOLD:
        raise ValueError(f"a shift by {count}")
    return count


_PIECE: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|[{}]", re.DOTALL)
_MARK: Final = re.compile(
    rb"""/\*\s*<\s*(?P<gtk>private|public|protected)\s*>\s*\*/      # gtk-doc: /*< private >*/
    | /\*\s*(?P<kernel>private|public):                            # kernel-doc: /* private: */
    | /[/*]{2}[!*/<\s]*[@\\](?P<doxygen>private|public|protected)section\b  # Doxygen: /** @privatesection */
    """,
    re.VERBOSE,
)
_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MEMBER: Final = re.compile(rb"(?:->|\.)\s*([A-Za-z_]\w*)")


class PrivateMarks:
    """The members of public structs behind such a mark, which C has no other words for.

    A mark is valid up to the next one, in its own braces. Members that the code of public headers uses are none: the
    macros and inline functions that programs compile need them where they lie.
    """

    def __init__(self, lib: LibClang, text: SourceText, files: PublicFiles, top: Iterable[Cursor]) -> None:
        self._lib, self._text, self._files, self._top = lib, text, files, top

    def of(self, record: Cursor, fields: Iterable[Cursor]) -> frozenset[str]:
        """The names of the members of a record that are marked."""
        file, begin, end = self._text.extent(record)
        if file is None or not self._files.is_public_file(file):
            return frozenset()
        marks = list(_marks(self._text.between(file, begin, end)))
        if not any(private for _, private in marks):
            return frozenset()
        places = [place for place, _ in marks]
        found = {
            self._lib.spelling(field)
            for field in fields
            if (before := bisect(places, self._offset(field) - begin)) and marks[before - 1][1]
        }
        return frozenset(found) - self._used

    def _offset(self, field: Cursor) -> int:
        return self._lib.place(self._lib.getCursorLocation(field))[2]

    @cached_property
    def _used(self) -> frozenset[str]:
        """The members of anything that code in public headers uses."""
        included = {self._lib.getIncludedFile(each) for each in self._top if each.kind == cursors.INCLUSION}
        texts = (_COMMENT.sub(b" ", self._text.file(file)) for file in filter(self._files.is_public_file, included))
        return frozenset(member.decode() for text in texts for member in _MEMBER.findall(text))


def _marks(text: bytes) -> Iterator[tuple[int, bool]]:
    """Where a record's own marks stand in its text, and whether what follows is private."""
    if b"private" not in text:
        return
    depth = 0
    for piece in _PIECE.finditer(text):
        if piece[0] in (b"{", b"}"):
            depth += 1 if piece[0] == b"{" else -1
        elif depth == 1 and (mark := _MARK.match(piece[0])):
            yield piece.start(), b"private" in (mark["gtk"], mark["kernel"], mark["doxygen"])
