"""What an abi-dumper dump declares: symbol tables, functions and variables, and types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final, Literal

from abistore.extract.dumps.gathering import (
    VA_LIST,
    DumpedTypes,
    Gathered,
    Tables,
    as_parameter,
    is_data,
    qualifiers_of,
)
from abistore.extract.dumps.perl import Hash, Reading, Value, decimal_behind, hash_of, in_order, number_of, text_of
from abistore.extract.types import NULLPTR
from abistore.model.declarations import SELF, Name
from abistore.model.names.qualified import last_component, normal_name, plain_template
from abistore.model.names.symbols import TYPEINFO, VTABLE, is_mangled
from abistore.model.shapes import (
    Access,
    Alias,
    AnyShape,
    Base,
    Enum,
    Enumerator,
    Field,
    Function,
    Import,
    Library,
    Method,
    Named,
    Pointer,
    Qualified,
    Record,
    Sort,
    Symbol,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Location, sort_variants

ALLOCATOR: Final = "std::allocator<{0}>"
OF_PAIRS: Final = "std::allocator<std::pair<{0} const, {1}>>"
TRAITS: Final = "std::char_traits<{0}>"
MAX_LENGTH: Final = 1 << 12
MAX_DEPTH: Final = 32

DEFAULTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("vector", "deque", "list", "forward_list"), ("", ALLOCATOR)),
    **dict.fromkeys(("set", "multiset"), ("", "std::less<{0}>", ALLOCATOR)),
    **dict.fromkeys(("map", "multimap"), ("", "", "std::less<{0}>", OF_PAIRS)),
    **dict.fromkeys(("unordered_set", "unordered_multiset"), ("", "std::hash<{0}>", "std::equal_to<{0}>", ALLOCATOR)),
    **dict.fromkeys(
        ("unordered_map", "unordered_multimap"), ("", "", "std::hash<{0}>", "std::equal_to<{0}>", OF_PAIRS)
    ),
    **dict.fromkeys(("stack", "queue"), ("", "std::deque<{0}, std::allocator<{0}>>")),
    **dict.fromkeys(
        ("basic_ostream", "basic_istream", "basic_iostream", "basic_ios", "basic_streambuf", "basic_filebuf"),
        ("", TRAITS),
    ),
    **dict.fromkeys(
        ("basic_string", "basic_stringstream", "basic_ostringstream", "basic_istringstream", "basic_stringbuf"),
        ("", TRAITS, ALLOCATOR),
    ),
    "unique_ptr": ("", "std::default_delete<{0}>"),
}
INNER: Final = ("std::__cxx11::", "std::__1::", "std::")


@lru_cache(1 << 12)
def with_defaults(name: str, depth: int = 0) -> str:
    """A normal name in which the templates of ``std`` have all their arguments: ``std::vector<int, ...>``."""
    if "<" not in name or len(name) > MAX_LENGTH or depth > MAX_DEPTH:
        return name
    parts = plain_template(name)
    if parts is None:
        return name
    head, given = parts[0], [with_defaults(each, depth + 1) for each in parts[1]]
    prefix = next((each for each in INNER if head.startswith(each)), "")
    known = DEFAULTS.get(head.removeprefix(prefix), ()) if prefix else ()
    if any(not default for default in known[len(given) :]):
        known = ()
    given += [normal_name(default.format(*given)) for default in known[len(given) :]]
    return f"{head}<{', '.join(given)}>"


SORTS: Final[Mapping[str, Sort]] = {"Class": "class", "Struct": "struct", "Union": "union", "Enum": "enum"}
DECLARATORS: Final[Mapping[str, Literal["*", "&", "&&"]]] = {"Pointer": "*", "Ref": "&", "RvalueRef": "&&"}
QUALIFIERS: Final = {
    "Const": ("const",),
    "Volatile": ("volatile",),
    "ConstVolatile": ("const", "volatile"),
    "Restrict": ("restrict",),
}
KEYWORD: Final = re.compile(r"(?:struct|union|enum|class) ")
UNNAMED: Final = re.compile(r"anon-(?:struct|union|class|enum)-")
VALUE: Final = re.compile(r"-?\d{1,20}(?: \((-?\d{1,20})\))?")
REPEATED: Final = re.compile(r"\b\d{1,20} ?\((-?\d{1,20})\)")
"""A template argument that elfutils writes twice: ``2(2)``."""
BOUND: Final = re.compile(r"\[(\d{0,18})\]$")
VPTR: Final = re.compile(r"_vptr(?:[.$].*)?")
ELLIPSIS: Final = "-1"
MOST_BYTES: Final = 1 << 59


class AbiccTypes(DumpedTypes[Hash]):
    """The types of an abi-dumper dump."""

    undescribed = "type that the dump does not describe"
    unnamed = "unknown type"

    def __init__(self, types: Mapping[str, Hash], gathered: Gathered, reading: Reading, *, width: int) -> None:
        super().__init__(gathered)
        self._width = width
        self.types = types
        self._reading = reading
        self._readers: dict[str, Callable[[str, Hash], TypeRef]] = {
            **dict.fromkeys(SORTS, self._composite),
            **dict.fromkeys(DECLARATORS, self._pointer),
            **dict.fromkeys(QUALIFIERS, self._qualified),
            **dict.fromkeys(("FieldPtr", "MethodPtr"), self._member_pointer),
            "Intrinsic": self._basic,
            "Typedef": self._alias,
            "Array": self._array,
            "FuncPtr": lambda *each: self.references.pointer(self._procedure(*each)),
            "Func": self._procedure,
        }

    def of(self, value: object) -> TypeRef:
        """The type that a field of the dump refers to; ``void`` where it has none."""
        return self.reference(value if isinstance(value, str) else "")

    def _described(self, identifier: str) -> Hash | None:
        return self.types.get(identifier)

    def _read(self, identifier: str, described: Hash) -> TypeRef:
        return self._readers.get(text_of(described.get("Type")), self._unknown)(identifier, described)

    def _sort(self, described: Hash) -> Sort:
        return SORTS[text_of(described.get("Type"))]

    def _size(self, described: Hash) -> int:
        return min(max(number_of(described.get("Size")) or 0, 0), MOST_BYTES)

    def _location(self, described: Hash) -> Location:
        return location_of(described)

    def _shape(self, described: Hash, sort: Sort) -> Record | Enum:
        return self._enum(described) if sort == "enum" else self._record(described, sort)

    def signature(self, described: Hash, *, member: bool) -> tuple[tuple[TypeRef, ...], bool, TypeRef | None]:
        """The parameters, whether more may follow, and the type of ``this``."""
        parameters: list[TypeRef] = []
        variadic, this = False, None
        for place, each in enumerate(in_order(described.get("Param"))):
            if text_of(each.get("type")) == ELLIPSIS:
                variadic = True
            elif member and not place and text_of(each.get("name")) == "this":
                this = self.of(each.get("type"))
            else:
                parameters.append(as_parameter(self.of(each.get("type"))))
        return tuple(parameters), variadic, this

    # --- types that have a name -----------------------------------------------------------------------------------

    def _composite(self, _identifier: str, type: Hash) -> TypeRef:
        text = REPEATED.sub(r"\1", KEYWORD.sub("", text_of(type.get("Name")), count=1))
        if not text.strip() or UNNAMED.match(last_component(text)) or UNNAMED.match(text.rpartition("::")[2]):
            return self._unnamed(type)
        spelling = VA_LIST.get(text) or with_defaults(normal_name(text))
        return self._define(spelling, type, declared_only="Size" not in type and not hash_of(type.get("Memb")))

    def _alias(self, identifier: str, type: Hash) -> TypeRef:
        spelling = normal_name(text_of(type.get("Name")))
        if not spelling or self.gathered.is_foreign(spelling):
            return self.of(type.get("BaseType"))
        alias = self.references.named("alias", spelling)
        self._memo[identifier] = alias
        target = self.of(type.get("BaseType"))
        self.gathered.add(alias.name, Alias(target), location_of(type))
        return alias

    # --- types that have none -------------------------------------------------------------------------------------

    def _basic(self, _identifier: str, type: Hash) -> TypeRef:
        return self._built_in(text_of(type.get("Name")), self._size(type), self._width)

    def _pointer(self, _identifier: str, type: Hash) -> TypeRef:
        return self.references.pointer(self.of(type.get("BaseType")), DECLARATORS[text_of(type.get("Type"))])

    def _qualified(self, _identifier: str, type: Hash) -> TypeRef:
        found = self.of(type.get("BaseType"))
        for qualifier in QUALIFIERS[text_of(type.get("Type"))]:
            found = self.references.qualified(found, qualifier)
        return found

    def _array(self, _identifier: str, type: Hash) -> TypeRef:
        bound = BOUND.search(text_of(type.get("Name")))
        return self.references.array(self.of(type.get("BaseType")), int(bound[1]) if bound and bound[1] else None)

    def _procedure(self, _identifier: str, type: Hash) -> TypeRef:
        parameters, variadic, _ = self.signature(type, member=False)
        return self.references.procedure(self.of(type.get("Return")), parameters, variadic)

    def _member_pointer(self, identifier: str, type: Hash) -> TypeRef:
        """A pointer to a member. Its size in the dump is that of a plain pointer, and is not looked at."""
        method = text_of(type.get("Type")) == "MethodPtr"
        target = self._procedure(identifier, type) if method else self.of(type.get("Return"))
        return self.references.member_pointer(self.of(type.get("Class")), target)

    def _unknown(self, _identifier: str, type: Hash) -> TypeRef:
        name = text_of(type.get("Name"))
        if name in NULLPTR:
            return self.references.primitive("std::nullptr_t", self._width)
        return self.references.special(name or self.unnamed)

    # --- members --------------------------------------------------------------------------------------------------

    def _record(self, type: Hash, sort: Sort) -> Record:
        assert sort != "enum"
        members = in_order(type.get("Memb"))
        return Record(
            sort=sort,
            size=self._size(type),
            fields=tuple(self._field(each) for each in members if not _is_vptr(each)),
            bases=tuple(self._bases(type)),
            has_vptr=any(map(_is_vptr, members)),
        )

    def _field(self, member: Hash) -> Field:
        width = number_of(member.get("bitfield"))
        name = text_of(member.get("name"))
        return Field(
            "" if UNNAMED.match(name) or name.startswith("unnamed") else name,
            self.of(member.get("type")),
            8 * self._offset(member),
            width if width is not None and width >= 0 else None,
            access_of(text_of(member.get("access"))),
        )

    def _offset(self, member: Hash) -> int:
        offset = number_of(member.get("offset")) or 0
        if self._reading == "unreliable":
            return 0
        if self._reading == "hexadecimal":
            offset = decimal_behind(offset) or 0 if offset > 0 else 0
        return min(max(offset, 0), MOST_BYTES)

    def _bases(self, type: Hash) -> Iterator[Base]:
        """The bases in their order. Where they lie is not in the dump."""
        found = [(number_of(hash_of(base).get("pos")) or 0, key, hash_of(base)) for key, base in _items(type, "Base")]
        for _, key, base in sorted(found, key=lambda each: each[:2]):
            virtual = "virtual" in base
            yield Base(self.of(key), None if virtual else 0, virtual, access_of(text_of(base.get("access"))))

    def _enum(self, type: Hash) -> Enum:
        enumerators = (
            Enumerator(text_of(each.get("name")), _enumerator(text_of(each.get("value"))))
            for each in in_order(type.get("Memb"))
        )
        return Enum(self._size(type), tuple(enumerators))


def access_of(text: str) -> Access:
    """The access that a dump notes where it is not public."""
    return "private" if text == "private" else "protected" if text == "protected" else "public"


def location_of(described: Hash) -> Location:
    """Where something is declared: a dump has base names only."""
    file, line = text_of(described.get("Header")), number_of(described.get("Line"))
    if not file:
        file, line = text_of(described.get("Source")), number_of(described.get("SourceLine")) or line
    return Location(file if not file.startswith("<") else "", min(max(line or 0, 0), 1 << 31))


def _items(described: Hash, key: str) -> list[tuple[str, Value]]:
    return list(hash_of(described.get(key)).items())


def _is_vptr(member: Hash) -> bool:
    return VPTR.fullmatch(text_of(member.get("name"))) is not None


def _enumerator(text: str) -> int:
    """The value: ``18446744073709551615 (-1)`` is -1."""
    match = VALUE.fullmatch(text)
    return int(match[1] or match[0]) if match else 0


POINTED: Final = re.compile(r"\[([^\]\s]+)\]$")
PURE: Final = "__cxa_pure_virtual"
MOST_WORDS: Final = 1 << 12
LARGEST: Final = 1 << 62


def read_tables(dump: Hash, needed: tuple[str, ...], width: int) -> Tables:
    """The symbol facet. ``width`` is the size of a word of a vtable."""
    data = {_symbol_of(each) for each in _described(dump) if "Data" in each}
    vtables = dict(_vtables(dump, width))
    gathered: dict[Name, list[AnyShape]] = {}
    kinds: dict[str, Name] = {}
    for spelled, value in _each(dump, "Symbols"):
        symbol, version, default = _versioned(spelled)
        size = number_of(value) or 0
        variable = size < 0 or symbol in data or is_data(symbol)
        name = kinds.setdefault(symbol, Name("variable" if variable else "function", symbol))
        shape = Symbol(
            "data" if variable else "function",
            size=min(max(-size, 0), LARGEST),
            version=version,
            default=default,
            table=vtables.get(symbol, ()),
        )
        gathered.setdefault(name, []).append(shape)
    for spelled, _ in _each(dump, "UndefinedSymbols"):
        symbol, version, _ = _versioned(spelled)
        gathered.setdefault(Name("import", symbol), []).append(Import(version=version))
    entries = {name: sort_variants(shapes) for name, shapes in gathered.items()}
    entries[SELF] = (Library("shared", None, needed),)
    return Tables(entries, kinds, None)


def lacks_sizes(dump: Hash) -> bool:
    """Whether data is written like code, without its size: as thread-local data is."""
    sized = {_versioned(spelled)[0]: number_of(value) or 0 for spelled, value in _each(dump, "Symbols")}
    return any(sized.get(_symbol_of(each), 0) > 0 for each in _described(dump) if "Data" in each)


def _each(dump: Hash, table: str) -> Iterator[tuple[str, Value]]:
    for symbols in hash_of(dump.get(table)).values():
        yield from ((spelled, value) for spelled, value in hash_of(symbols).items() if spelled.partition("@")[0])


def _versioned(spelled: str) -> tuple[str, str | None, bool]:
    symbol, mark, version = spelled.partition("@")
    if not mark or not version.strip("@"):
        return symbol, None, True
    return symbol, version.removeprefix("@"), version.startswith("@")


def _described(dump: Hash) -> Iterator[Hash]:
    return (each for each in hash_of(dump.get("SymbolInfo")).values() if isinstance(each, dict))


def _symbol_of(described: Hash) -> str:
    return text_of(described.get("MnglName")) or text_of(described.get("ShortName"))


def _vtables(dump: Hash, width: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The words of each vtable as symbols. Its class is the one whose type information it points to."""
    for type in hash_of(dump.get("TypeInfo")).values():
        slots = {number_of(place): text_of(text) for place, text in hash_of(hash_of(type).get("VTable")).items()}
        places = [place for place in slots if place is not None and 0 <= place < MOST_WORDS * width]
        words = [_word(slots.get(place, "")) for place in range(0, max(places, default=-width) + width, width)]
        own = next((word for word in words if word.startswith(TYPEINFO)), None)
        if own is not None:
            yield VTABLE + own[len(TYPEINFO) :], tuple("" if word == own else word for word in words)


def _word(text: str) -> str:
    found = POINTED.search(text)
    if found and is_mangled(found[1]):
        return found[1]
    return PURE if text.endswith(PURE) else ""


# --- functions and variables --------------------------------------------------------------------------------------


def read_declarations(types: AbiccTypes, dump: Hash, kinds: Mapping[str, Name]) -> None:
    """Enter the declarations of the exports. One declaration describes a symbol and its aliases."""
    others: list[tuple[str, Hash]] = []
    for described in _described(dump):
        symbol = _symbol_of(described)
        _enter(types, kinds.get(symbol), described)
        if alias := text_of(described.get("Alias")):
            others.append((alias, described))
    for alias, described in others:
        name = kinds.get(alias)
        if name is not None and name not in types.gathered.entries:
            _enter(types, name, described)


def _enter(types: AbiccTypes, name: Name | None, described: Hash) -> None:
    if name is None or (name.kind == "variable") != ("Data" in described):
        return
    shape = _variable(types, described) if name.kind == "variable" else _function(types, described)
    types.gathered.add(name, shape, location_of(described))


def _function(types: AbiccTypes, described: Hash) -> Function:
    owner = _owner(types, described)
    parameters, variadic, this = types.signature(described, member=owner is not None)
    return Function(
        display=_display(described, owner),
        result=types.of(described.get("Return")),
        parameters=parameters,
        variadic=variadic,
        method=_method(described, owner, this) if owner else None,
    )


def _variable(types: AbiccTypes, described: Hash) -> Variable:
    owner = _owner(types, described)
    type, display = types.of(described.get("Return")), _display(described, owner)
    return Variable(display, type) if owner is None else Variable(display, type, owner)


def _owner(types: AbiccTypes, described: Hash) -> Name | None:
    """The class of a member; of some variants of constructors and destructors only ``this`` tells it."""
    found = types.of(described.get("Class")) if "Class" in described else None
    if found is None and ("Destructor" in described or "Constructor" in described):
        found = types.signature(described, member=True)[2]
        while isinstance(found, Qualified | Pointer):
            found = found.target
    return found.name if isinstance(found, Named) and found.name.kind == "record" else None


def _method(described: Hash, owner: Name, this: TypeRef | None) -> Method:
    slot = number_of(described.get("VirtPos"))
    return Method(
        owner,
        _access(described),
        static="Static" in described,
        virtual="pure" if "PureVirt" in described else "virtual" if "Virt" in described else "no",
        slot=slot if slot is not None and 0 <= slot < LARGEST and "Destructor" not in described else None,
        qualifiers=qualifiers_of(this),
    )


def _access(described: Hash) -> Access:
    return "private" if "Private" in described else "protected" if "Protected" in described else "public"


def _display(described: Hash, owner: Name | None) -> str:
    name = ("~" if "Destructor" in described else "") + normal_name(text_of(described.get("ShortName")))
    scope = owner.spelling if owner else normal_name(text_of(described.get("NameSpace")))
    return f"{scope}::{name}" if scope else name
