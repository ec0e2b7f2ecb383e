"""The header and the source of a piece."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.oracle.pieces import Class, Enumeration, Field, Function, Method, Piece, Variable


def header(piece: Piece) -> str:
    """What programs include."""
    return "".join(f"{line}\n" for line in _declarations(piece))


def source(piece: Piece) -> str:
    """What the library defines, behind its header."""
    return "".join(f"{line}\n" for line in _definitions(piece))


def internals(piece: Piece) -> str:
    """The declarations of exported functions that stand in no header."""
    return "".join(f"{_prototype(each, piece)};\n" for each in piece.functions if each.internal)


def _declarations(piece: Piece) -> Iterator[str]:
    c = piece.language == "c"
    for enumeration in piece.enumerations:
        yield f"typedef {_enumeration(enumeration)} {enumeration.name};" if c else f"{_enumeration(enumeration)};"
    for own in piece.classes:
        if c:
            yield f"typedef {_key(own)} {own.name} {own.name};"
        yield f"{_key(own)} {own.name};" if own.opaque else _class(own)
    for variable in piece.variables:
        yield f"extern {_variable(variable)};"
    for each in piece.functions:
        if not each.internal:
            yield f"{_prototype(each, piece)};"


def _enumeration(own: Enumeration) -> str:
    listed = ", ".join(f"{name} = {value}" for name, value in own.values)
    under = f" : {own.underlying}" if own.underlying else ""
    return f"enum {'class ' if own.scoped else ''}{own.name}{under} {{ {listed} }}"


def _key(own: Class) -> str:
    return "union" if own.union else "struct"


def _variable(own: Variable) -> str:
    return f"{own.type} {own.name}{f'[{own.count}]' if own.count else ''}"


def _prototype(own: Function, piece: Piece, *, named: bool = False) -> str:
    taken = ", ".join(f"{type} p{at}" if named else type for at, type in enumerate(own.parameters))
    linkage = 'extern "C" ' if own.c and piece.language == "c++" else ""
    return f"{linkage}{own.result} {own.name}({taken or 'void'})"


def _class(own: Class) -> str:
    template = "template<class T> " if own.template else ""
    packed = "__attribute__((packed)) " if own.packed else ""
    bases = ", ".join(f"{'virtual ' if each.virtual else ''}{each.name}" for each in own.bases)
    head = f"{template}{_key(own)} {packed}{own.name}{' final' if own.final else ''}{f' : {bases}' if bases else ''}"
    return "\n".join([f"{head} {{", *_members(own), "};"])


def _members(own: Class) -> Iterator[str]:
    access, methods = "public", 0
    for member in own.members:
        if isinstance(member, Method):
            if own.destructor == methods:
                yield f" public: virtual ~{own.name}();"
                access = "public"
            methods += 1
        if member.access != access:
            access = member.access
            yield f" {access}:"
        if isinstance(member, Method):
            yield _method(member)
            continue
        yield _field(member)
        if member.shown:
            access = "public"
            yield f" public: {member.type} get_{member.name}() const {{ return {member.name}; }}"
    if own.destructor is not None and own.destructor >= methods:
        yield f" public: virtual ~{own.name}();"
    if own.destroys:
        yield f" public: ~{own.name}();"
    if own.copies:
        yield f" public: {own.name}(); {own.name}(const {own.name} &);"


def _field(own: Field) -> str:
    alignment = f"alignas({own.alignment}) " if own.alignment else ""
    count, bits = f"[{own.count}]" if own.count else "", f" : {own.bits}" if own.bits else ""
    return f"  {alignment}{own.type} {own.name}{count}{bits};"


def _method(own: Method) -> str:
    words = f"{'static ' if own.static else ''}{'virtual ' if own.virtual else ''}"
    behind = f"{' const' if own.const else ''}{' = 0' if own.pure else ''}"
    return f"  {words}{own.result} {own.name}({', '.join(own.parameters)}){behind};"


def _definitions(piece: Piece) -> Iterator[str]:
    for own in piece.classes:
        if own.opaque:
            yield _class(own)
        for method in own.methods:
            if not method.pure:
                taken, body = ", ".join(method.parameters), "" if method.result == "void" else "return 0;"
                const = " const" if method.const else ""
                yield f"{method.result} {own.name}::{method.name}({taken}){const} {{ {body} }}"
        if own.destructor is not None or own.destroys:
            yield f"{own.name}::~{own.name}() {{}}"
        if own.copies:
            yield f"{own.name}::{own.name}() {{}} {own.name}::{own.name}(const {own.name} &) {{}}"
    for variable in piece.variables:
        yield f"{_variable(variable)} = {'{1}' if variable.count else 1};"
    for each in piece.functions:
        yield f"{_prototype(each, piece, named=True)} {{ {_body(each, piece)} }}"


def _body(own: Function, piece: Piece) -> str:
    """Code that needs to know the size of what it is given, so that debug information describes it."""
    steps = []
    for at, type in enumerate(own.parameters):
        pointee = type.removesuffix(" *")
        known = pointee != type and (piece.named(pointee) is not None or "<" in pointee)
        steps.append(f"sink = p{at} + 1;" if known else f"(void)p{at};")
    return " ".join([*steps, _returned(own, piece)])


def _returned(own: Function, piece: Piece) -> str:
    if own.result == "void":
        return ""
    if own.result in own.parameters:
        return f"return p{own.parameters.index(own.result)};"
    if piece.language == "c++":
        return "return {};"
    return f"{own.result} none = {{0}}; return none;" if piece.named(own.result) else "return 0;"
