"""libabigail's ABIXML, read as a stream: symbol tables, types, functions and variables of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, Protocol
from xml.parsers import expat

from msgspec.structs import replace

from abistore.errors import ExtractError, LimitExceeded
from abistore.extract.dumps.gathering import VA_LIST, DumpedTypes, Gathered, Tables, as_parameter, qualifiers_of
from abistore.extract.elf.container import is_noise
from abistore.model.declarations import SELF, Name
from abistore.model.names.qualified import demangle, last_component, normal_name, outside, parameter_count
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import (
    VOID,
    Access,
    Alias,
    AnyShape,
    Base,
    Binding,
    Enum,
    Enumerator,
    Field,
    Function,
    Import,
    Library,
    Method,
    Named,
    Record,
    Sort,
    Symbol,
    SymbolType,
    TypeRef,
    Variable,
    VirtualMethod,
    Visibility,
    elf_symbol,
)
from abistore.model.snapshot import Location, sort_variants

MAX_DEPTH: Final = 256
MOST_BITS: Final = 1 << 62
PIECE: Final = 1 << 16
SCOPES: Final = frozenset({"namespace-decl", "class-decl", "union-decl"})
UNNAMED_SCOPE: Final = "(anonymous namespace)"


class Element:
    """One element; ``scope`` is the qualified name of the namespace or class around it."""

    __slots__ = ("attributes", "folder", "parts", "scope", "tag")

    def __init__(self, tag: str, attributes: Mapping[str, str], scope: str, folder: str) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parts: list[Element] = []
        self.scope = scope
        self.folder = folder

    def get(self, attribute: str, default: str = "") -> str:
        """The value of an attribute."""
        return self.attributes.get(attribute, default)

    def says(self, attribute: str) -> bool:
        """Whether an attribute is ``yes``."""
        return self.attributes.get(attribute) == "yes"

    def number(self, attribute: str) -> int | None:
        """An attribute that is a decimal number; ``None`` where it is none."""
        return decimal(self.attributes.get(attribute, ""))

    @property
    def size(self) -> int:
        """The size in bytes; 0 where there is none, or one that nothing has."""
        bits = self.number("size-in-bits") or 0
        return bits // 8 if 0 < bits < MOST_BITS else 0

    def children(self, tag: str) -> Iterator[Element]:
        """The parts with this tag."""
        return (part for part in self.parts if part.tag == tag)

    def everything(self) -> Iterator[Element]:
        """The element and all that is in it."""
        pending = [self]
        while pending:
            found = pending.pop()
            yield found
            pending += reversed(found.parts)

    @property
    def spelling(self) -> str:
        """The name, qualified by the scope."""
        return f"{self.scope}::{self.get('name')}" if self.scope else self.get("name")


def decimal(text: str) -> int | None:
    """A decimal number of at most 20 digits."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 20 else None


def read_document(data: bytes, label: str) -> Element:
    """The root element of an ABIXML document. Raises :class:`ExtractError`, :class:`LimitExceeded`."""
    builder = _Builder(label)
    try:
        for start in range(0, len(data), PIECE):
            builder.parser.Parse(data[start : start + PIECE], False)
        builder.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ExtractError(f"{label}: malformed XML: {error}", "create the file again with abidw") from error
    except (ValueError, LookupError) as error:  # an encoding that Python does not have, or that is none
        raise ExtractError(f"{label}: the encoding of the XML cannot be read", "create it again with abidw") from error
    assert builder.root is not None  # or else expat had found no element
    return builder.root


class _Builder:
    def __init__(self, label: str) -> None:
        self.root: Element | None = None
        self._label = label
        self._open: list[Element] = []
        self._texts: dict[str, str] = {}
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise ExtractError(
            f"{self._label}: declares a document type or entities, which ABIXML does not use",
            "the file is probably hostile; create it again with abidw",
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise LimitExceeded(f"{self._label}: elements are nested more than {MAX_DEPTH} levels deep")
        known = self._texts
        kept = {known.setdefault(key, key): known.setdefault(value, value) for key, value in attributes.items()}
        scope, folder = "", ""
        if self._open:
            outer = self._open[-1]
            scope, folder = outer.scope, outer.folder
            if outer.tag in SCOPES:
                name = outer.get("name") or UNNAMED_SCOPE
                scope = known.setdefault(joined := f"{scope}::{name}" if scope else name, joined)
        element = Element(known.setdefault(tag, tag), kept, scope, kept.get("comp-dir-path", folder))
        if self._open:
            self._open[-1].parts.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, _tag: str) -> None:
        self._open.pop()


class AbixmlTypeSource(Protocol):
    """The types of a document, for those who read what is made of them."""

    elements: dict[str, Element]

    def of(self, element: Element) -> TypeRef:
        """What an element's ``type-id`` refers to."""


def signature(types: AbixmlTypeSource, element: Element) -> tuple[tuple[TypeRef, ...], bool, TypeRef | None]:
    """The parameters of a function, whether more may follow, and the type of ``this``."""
    parameters: list[TypeRef] = []
    variadic, this = False, None
    for each in element.children("parameter"):
        if each.says("is-variadic"):
            variadic = True
        elif each.says("is-artificial"):
            this = types.of(each) if this is None and not parameters else this
        else:
            parameters.append(as_parameter(types.of(each)))
    return tuple(parameters), variadic, this


def result(types: AbixmlTypeSource, element: Element) -> TypeRef:
    """What a function returns."""
    return next((types.of(each) for each in element.children("return")), VOID)


ACCESS: Final[dict[str, Access]] = {"public": "public", "protected": "protected", "private": "private"}


def read_record(types: AbixmlTypeSource, element: Element, sort: Literal["struct", "class", "union"]) -> Record:
    """The shape of a record. Who has virtual methods and no base that has any brings in the vtable pointer."""
    bases = tuple(_bases(types, element))
    virtuals = tuple(sorted(_virtuals(types, element), key=lambda each: (each.slot is None, each.slot)))
    return Record(
        sort=sort,
        size=element.size,
        fields=tuple(_fields(types, element)),
        bases=bases,
        virtuals=virtuals,
    )


def read_enum(types: AbixmlTypeSource, element: Element) -> Enum:
    """The shape of an enumeration. ABIXML gives its size by the underlying type."""
    underlying = next(element.children("underlying-type"), None)
    known = underlying is not None and types.elements.get(underlying.get("type-id"))
    size = known.size if known else 0
    enumerators = (Enumerator(each.get("name"), each.number("value") or 0) for each in element.children("enumerator"))
    return Enum(size, tuple(enumerators))


def _fields(types: AbixmlTypeSource, element: Element) -> Iterator[Field]:
    for member in element.children("data-member"):
        if member.says("static"):
            continue
        offset = member.number("layout-offset-in-bits") or 0
        for variable in member.children("var-decl"):
            yield Field(
                variable.get("name"),
                types.of(variable),
                min(max(offset, 0), MOST_BITS),
                access=ACCESS.get(member.get("access"), "public"),
            )


def _bases(types: AbixmlTypeSource, element: Element) -> Iterator[Base]:
    for base in element.children("base-class"):
        virtual = base.says("is-virtual")
        offset = base.number("layout-offset-in-bits") or 0
        place = None if virtual else min(max(offset, 0), MOST_BITS)
        yield Base(types.of(base), place, virtual, ACCESS.get(base.get("access"), "public"))


def _virtuals(types: AbixmlTypeSource, element: Element) -> Iterator[VirtualMethod]:
    """The virtual methods. The several symbols of a destructor are one method."""
    destroyed = False
    for member in element.children("member-function"):
        if "vtable-offset" not in member.attributes:
            continue
        for function in member.children("function-decl"):
            destructor = member.says("destructor")
            if destructor and destroyed:
                continue
            destroyed = destroyed or destructor
            slot = member.number("vtable-offset")
            yield VirtualMethod(
                normal_name(function.get("name")),
                "" if destructor else function.get("mangled-name"),
                None if destructor or slot is None or slot < 0 else slot,
                result(types, function),
                signature(types, function)[0],
                access=ACCESS.get(member.get("access"), "public"),
            )


RECORDS: Final = frozenset({"class-decl", "union-decl"})
COMPOSITES: Final = RECORDS | {"enum-decl"}
DECLARATORS: Final[Mapping[str, Literal["*", "&", "&&"]]] = {"lvalue": "&", "rvalue": "&&"}
QUALIFIERS: Final = ("const", "volatile", "restrict")
MOST_DIMENSIONS: Final = 16


class AbixmlTypes(DumpedTypes[Element]):
    """The types of a document."""

    undescribed = "type that the file does not describe"

    def __init__(self, root: Element, gathered: Gathered) -> None:
        super().__init__(gathered)
        self.elements: dict[str, Element] = {}
        self._definitions: dict[str, Element] = {}
        for element in root.everything():
            if identifier := element.get("id"):
                self.elements.setdefault(identifier, element)
                if element.tag in COMPOSITES and not element.says("is-declaration-only"):
                    self._definitions.setdefault(element.spelling, element)
        self._readers: dict[str, Callable[[Element], TypeRef]] = {
            **dict.fromkeys(COMPOSITES, self._composite),
            "type-decl": self._basic,
            "typedef-decl": self._alias,
            "pointer-type-def": self._pointer,
            "reference-type-def": self._reference,
            "qualified-type-def": self._qualified,
            "array-type-def": self._array,
            "function-type": self._procedure,
        }

    def of(self, element: Element) -> TypeRef:
        """What an element's ``type-id`` refers to; ``void`` where it has none."""
        return self.reference(element.get("type-id"))

    def _described(self, identifier: str) -> Element | None:
        return self.elements.get(identifier)

    def _read(self, _identifier: str, described: Element) -> TypeRef:
        return self._readers.get(described.tag, self._unknown)(described)

    def _sort(self, described: Element) -> Sort:
        return sort_of(described)

    def _size(self, described: Element) -> int:
        return described.size

    def _location(self, described: Element) -> Location:
        return location_of(described)

    def _shape(self, described: Element, sort: Sort) -> Record | Enum:
        return read_enum(self, described) if sort == "enum" else read_record(self, described, sort)

    def read_members(self) -> None:
        """Read them; what was only declared is looked for among the definitions of other units."""
        while True:
            super().read_members()
            for name in [name for name in self.gathered.declared if name not in self.gathered.entries]:
                if definition := self._definitions.get(name.spelling):
                    self._define(name.spelling, definition, declared_only=False)
            if not self._pending:
                return

    def _composite(self, element: Element) -> TypeRef:
        if element.says("is-anonymous") or not element.get("name").strip():
            return self._unnamed(element)
        spelling = VA_LIST.get(element.get("name")) or normal_name(element.spelling)
        return self._define(spelling, element, declared_only=element.says("is-declaration-only"))

    def _basic(self, element: Element) -> TypeRef:
        return self._built_in(element.get("name"), element.size, element.size)

    def _alias(self, element: Element) -> TypeRef:
        spelling = normal_name(element.spelling)
        target = self.elements.get(element.get("type-id"))
        names = target is not None and target.get("naming-typedef-id") == element.get("id")
        if names or not spelling or self.gathered.is_foreign(spelling):
            return self.of(element)
        alias = self.references.named("alias", spelling)
        self._memo[element.get("id")] = alias
        self.gathered.add(alias.name, Alias(self.of(element)), location_of(element))
        return alias

    def _pointer(self, element: Element) -> TypeRef:
        return self.references.pointer(self.of(element))

    def _reference(self, element: Element) -> TypeRef:
        return self.references.pointer(self.of(element), DECLARATORS.get(element.get("kind"), "&"))

    def _qualified(self, element: Element) -> TypeRef:
        found = self.of(element)
        for qualifier in QUALIFIERS:
            if element.says(qualifier):
                found = self.references.qualified(found, qualifier)
        return found

    def _array(self, element: Element) -> TypeRef:
        found = self.of(element)
        lengths = (each.number("length") for each in element.children("subrange"))
        bounds = [length if length is not None and length >= 0 else None for length in lengths][:MOST_DIMENSIONS]
        for bound in reversed(bounds or [None]):
            found = self.references.array(found, bound)
        return found

    def _procedure(self, element: Element) -> TypeRef:
        parameters, variadic, _ = signature(self, element)
        return self.references.procedure(result(self, element), parameters, variadic)

    def _unknown(self, element: Element) -> TypeRef:
        return self.references.special(element.get("name") or element.tag)


def sort_of(element: Element) -> Sort:
    """The keyword that a record or an enumeration is declared with."""
    if element.tag == "enum-decl":
        return "enum"
    if element.tag == "union-decl":
        return "union"
    return "struct" if element.says("is-struct") else "class"


def location_of(element: Element) -> Location:
    """Where something is declared, relative to the folder of the compilation where it lies below it."""
    file = element.get("filepath")
    folder = element.folder.rstrip("/")
    below = folder and file.startswith(f"{folder}/")
    return Location(file[len(folder) + 1 :] if below else file, min(max(element.number("line") or 0, 0), 1 << 31))


TYPES: Final[dict[str, SymbolType]] = {
    "func-type": "function",
    "object-type": "object",
    "tls-type": "tls",
    "common-type": "common",
    "gnu-ifunc-type": "ifunc",
    "no-type": "notype",
}
BINDINGS: Final[dict[str, Binding]] = {
    "global-binding": "global",
    "weak-binding": "weak",
    "gnu-unique-binding": "unique",
}
VISIBILITIES: Final[dict[str, Visibility]] = {"default-visibility": "default", "protected-visibility": "protected"}
EXPORTED: Final = ("elf-function-symbols", "elf-variable-symbols")
UNDEFINED: Final = ("undefined-elf-function-symbols", "undefined-elf-variable-symbols")
LARGEST: Final = 1 << 62


class ReadSymbols(NamedTuple):
    """The symbol facet; of symbols at one address, which stands for all; and whether the file has imports.

    Symbols of aliases are spelled with their versions.
    """

    tables: Tables
    aliases: dict[str, str]
    tells_imports: bool


def read_symbols(corpus: Element) -> ReadSymbols:
    """What a corpus says of the symbol tables of its file."""
    gathered: dict[Name, list[AnyShape]] = {}
    kinds: dict[str, Name] = {}
    aliases: dict[str, str] = {}
    for element, name, symbol in _exports(corpus):
        gathered.setdefault(name, []).append(symbol)
        kinds.setdefault(name.spelling, name)
        own = _identifier(element, symbol)
        for other in filter(None, element.get("alias").split(",")):
            first, second = _main(aliases, own), _main(aliases, other)
            aliases[own], aliases[other] = first, first
            aliases[second] = first
    undefined = [part for part in corpus.parts if part.tag in UNDEFINED]
    for element in (symbol for part in undefined for symbol in part.children("elf-symbol")):
        shape = Import(element.get("binding") == "weak-binding", element.get("version") or None)
        if element.get("name"):
            gathered.setdefault(Name("import", element.get("name")), []).append(shape)
    soname = corpus.get("soname") or None
    needed = (each.get("name") for part in corpus.children("elf-needed") for each in part.children("dependency"))
    entries = {name: sort_variants(shapes) for name, shapes in gathered.items() if name.spelling}
    entries[SELF] = (Library("shared", soname, tuple(filter(None, needed))),)
    roots = {symbol: _main(aliases, symbol) for symbol in aliases}
    return ReadSymbols(Tables(entries, kinds, soname), roots, bool(undefined))


def _identifier(element: Element, symbol: Symbol) -> str:
    """What other elements call a symbol: ``name@@VERSION``, where it has one."""
    if symbol.version is None:
        return element.get("name")
    return f"{element.get('name')}{'@@' if symbol.default else '@'}{symbol.version}"


def _main(aliases: dict[str, str], symbol: str) -> str:
    """The symbol that stands for all at its address."""
    while (other := aliases.get(symbol, symbol)) != symbol:
        aliases[symbol] = aliases.get(other, other)
        symbol = other
    return symbol


def _exports(corpus: Element) -> Iterator[tuple[Element, Name, Symbol]]:
    for part in corpus.parts:
        if part.tag in EXPORTED:
            for element in part.children("elf-symbol"):
                symbol = _symbol(element)
                if symbol is not None and element.get("name"):
                    code = symbol.type == "function" or part.tag == EXPORTED[0]
                    yield element, Name("function" if code else "variable", element.get("name")), symbol


def _symbol(element: Element) -> Symbol | None:
    """The exported symbol; ``None`` for what no other file can bind to, and for noise."""
    type = TYPES.get(element.get("type"))
    binding, visibility = BINDINGS.get(element.get("binding")), VISIBILITIES.get(element.get("visibility"))
    if type is None or binding is None or visibility is None or element.get("is-defined") == "no":
        return None
    size = min(max(element.number("size") or 0, 0), LARGEST)
    if is_noise(element.get("name"), typed=type != "notype" or size > 0, entry=True):
        return None
    if element.says("is-common"):
        type = "common"
    return replace(
        elf_symbol(type, binding, visibility),
        size=0 if type in ("function", "ifunc") else size,
        version=element.get("version") or None,
        default=not element.get("version") or element.says("is-default-version"),
    )


class _Member(NamedTuple):
    """A declaration with what is around it: the class, and how it is a member of that."""

    element: Element
    owner: Name | None = None
    member: Element | None = None


def read_declarations(types: AbixmlTypes, root: Element, kinds: Mapping[str, Name], aliases: Mapping[str, str]) -> None:
    """Enter what describes the exports: for all symbols that lie at its address."""
    sharing: dict[str, list[str]] = {}
    for symbol, main in aliases.items():
        sharing.setdefault(main, []).append(symbol)
    for found in _members(types, root):
        identifier = found.element.get("elf-symbol-id")
        symbol = identifier.partition("@")[0]
        others = (each.partition("@")[0] for each in sharing.get(aliases.get(identifier, identifier), ()))
        for each in dict.fromkeys((symbol, *others)):
            name = kinds.get(each)
            if name is not None and (
                each == symbol or (name not in types.gathered.entries and _may_stand(each, symbol))
            ):
                _enter(types, name, found)


def _may_stand(alias: str, symbol: str) -> bool:
    """Whether what describes ``symbol`` is true of another symbol at its address: of a variant, or a C alias."""
    if not (is_mangled(alias) and is_mangled(symbol)):
        return True
    return demangle(alias) == demangle(symbol)


def _enter(types: AbixmlTypes, name: Name, found: _Member) -> None:
    element = found.element
    if (name.kind == "function") != (element.tag == "function-decl"):
        return
    shape = _function(types, name, found) if name.kind == "function" else _variable(types, found)
    if shape is not None:
        types.gathered.add(name, shape, location_of(element))


def _members(types: AbixmlTypes, root: Element) -> Iterator[_Member]:
    pending: list[tuple[Element, Element | None]] = [(root, None)]
    while pending:
        element, record = pending.pop()
        for part in reversed(element.parts):
            if part.tag not in ("function-decl", "var-decl"):
                pending.append((part, _record_of(part, record)))
            elif part.get("elf-symbol-id"):
                yield _in_record(types, part, record, element)


def _record_of(part: Element, around: Element | None) -> Element | None:
    """The class whose members stand in ``part``."""
    if part.tag in RECORDS:
        return part
    return around if part.tag.startswith("data-") or part.tag == "member-function" else None


def _in_record(types: AbixmlTypes, element: Element, record: Element | None, around: Element) -> _Member:
    if record is None or around.tag not in ("member-function", "data-member"):
        return _Member(element)
    owner = types.reference(record.get("id")) if record.get("id") else None
    return _Member(element, owner.name if isinstance(owner, Named) else None, around)


def _function(types: AbixmlTypes, name: Name, found: _Member) -> Function | None:
    """The function; ``None`` where the file leaves parameters out that the mangled name has, as of types it lacks."""
    parameters, variadic, this = signature(types, found.element)
    if not _are_all(name.spelling, len(parameters) + variadic):
        return None
    return Function(
        display=_display(found.element),
        result=result(types, found.element),
        parameters=parameters,
        variadic=variadic,
        method=_method(found, this),
    )


def _are_all(symbol: str, count: int) -> bool:
    if not is_mangled(symbol):
        return True
    spelled = demangle(symbol)
    start = _parameters(spelled)
    return start < 0 or parameter_count(spelled[start:]) == count


def _parameters(spelled: str) -> int:
    """Where the list of parameters begins in a demangled function; -1 where there is none."""
    *_, last = (-1, *(begin for token, begin, _ in outside(spelled) if token == "("))
    return last


def _method(found: _Member, this: TypeRef | None) -> Method | None:
    if found.owner is None or found.member is None:
        return None
    member = found.member
    slot = member.number("vtable-offset")
    return Method(
        found.owner,
        ACCESS.get(member.get("access"), "public"),
        static=this is None,
        virtual="virtual" if slot is not None else "no",
        slot=slot if slot is not None and slot >= 0 else None,
        qualifiers=qualifiers_of(this),
    )


def _variable(types: AbixmlTypes, found: _Member) -> Variable:
    display, type = _display(found.element), types.of(found.element)
    if found.owner is None or found.member is None:
        return Variable(display, type)
    return Variable(display, type, found.owner, ACCESS.get(found.member.get("access"), "public"))


def _display(element: Element) -> str:
    spelling = element.spelling
    scope = element.scope
    name = normal_name(element.get("name"))
    return f"{normal_name(scope)}::{name}" if scope and last_component(spelling) else name
