"""A program that prints what the compiler makes of a header."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.oracle.pieces import Class, Field, Method, Piece

TOP = """#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <type_traits>
#include <typeinfo>
static const char *spelled(const std::type_info &type) { return abi::__cxa_demangle(type.name(), 0, 0, 0); }
static unsigned char given[16];
static char places[3];
static int length;
static void taken(long a, long b, long, long, long, long, double x, double y) {
  const void *registers[] = {&a, &b, &x, &y};
  for (int word = 0; word * 8 < length; word++)
    for (int each = 0; each < 4; each++)
      if (!std::memcmp(registers[each], given + word * 8, length - word * 8 < 4 ? length - word * 8 : 4))
        places[word] = "iiss"[each];
}
template <class T> const char *passed() {
  if constexpr (!std::is_trivially_copyable_v<T> || sizeof(T) > 16) return "memory";
  else {
    alignas(T) unsigned char object[sizeof(T)];
    for (int at = 0; at < 16; at++) given[at] = 17 + 13 * at;
    std::memcpy(object, given, length = sizeof(T));
    std::memcpy(places, "--", 3);
    reinterpret_cast<void (*)(T)>(&taken)(*reinterpret_cast<T *>(object));
    return places;
  }
}
"""
"""What the program begins with. ``passed`` finds out which registers hold an object: integer or floating-point ones."""

_TABLE = re.compile(
    r"^Vtable for (?P<name>(?P<prefix>[a-z]+\d+q)\w+)\n.*: \d+ entries\n(?P<entries>(?:\d+ .*\n)+)", re.MULTILINE
)


def probe(piece: Piece, before: Piece) -> str:
    """Statements that print a line a fact: the piece, what is asked, and the answer.

    What programs cannot use is not asked for. ``before`` is the piece as it was: what programs used then counts.
    """
    return "\n".join([*_classes(piece, before), *_others(piece)])


def _line(piece: Piece, asked: str, format: str, *values: str) -> str:
    return f'std::printf("{piece.prefix}\\t{asked}\\t{format}\\n", {", ".join(values)});'


def _number(piece: Piece, asked: str, value: str) -> str:
    return _line(piece, asked, "%lld", f"(long long)({value})")


def _type(piece: Piece, asked: str, expression: str) -> str:
    return _line(piece, asked, "%s", f"spelled(typeid(decltype({expression})))")


def _others(piece: Piece) -> Iterator[str]:
    for each in piece.enumerations:
        yield _number(piece, f"size of {each.name}", f"sizeof({each.name})")
        yield _line(piece, f"integer of {each.name}", "%s", f"spelled(typeid(std::underlying_type_t<{each.name}>))")
        yield _number(piece, f"scope of {each.name}", str(int(each.scoped)))
        for name, _ in each.values:
            yield _number(piece, f"value of {name}", f"{each.name}::{name}")
    for variable in piece.variables:
        yield _type(piece, f"type of {variable.name}", variable.name)
    for function in piece.functions:
        yield _type(piece, f"type of {function.name}", f"&{function.name}")


def _classes(piece: Piece, before: Piece) -> Iterator[str]:
    for own in piece.classes:
        if own.opaque:
            continue
        instances = [each for each in piece.instances if each.partition("<")[0] == own.name]
        for name in instances if own.template else [own.name]:
            yield from _class(piece, before, own, name)


def _class(piece: Piece, before: Piece, own: Class, name: str) -> Iterator[str]:
    yield _number(piece, f"size of {name}", f"sizeof({name})")
    if name in piece.held:
        yield _number(piece, f"copying of {name}", f"std::is_trivially_copyable_v<{name}>")
        yield _line(piece, f"passing of {name}", "%s", f"passed<{name}>()")
    if not own.union:
        yield _number(piece, f"vtable of {name}", f"std::is_polymorphic_v<{name}>")
        yield _number(piece, f"destructor of {name}", f"std::has_virtual_destructor_v<{name}>")
        known = before.named(own.name)
        if not own.final and not (known and known.final):
            yield f"{{ struct D : {name} {{ char behind; }}; "
            yield _number(piece, f"end of {name}", "__builtin_offsetof(D, behind)") + " }"
    for member in own.members:
        if isinstance(member, Method):
            yield from _method(piece, own, member)
        else:
            yield from _field(piece, before, name, member)
    yield from _bases(piece, own)


def _field(piece: Piece, before: Piece, name: str, member: Field) -> Iterator[str]:
    known = before.named(name.partition("<")[0])
    was = next((each for each in known.fields if each.name == member.name), member) if known else member
    if was.access == "private" and not was.shown and name not in piece.held:
        return
    if member.bits:
        yield f"{{ alignas(64) static unsigned char b[sizeof({name}) + 64]; std::memset(b, 0, sizeof b);"
        yield f"(({name} *)b)->{member.name} = ({member.type})-1; int first = -1, count = 0;"
        yield f"for (int i = 0; i < (int)sizeof({name}) * 8; i++)"
        yield "if (b[i / 8] >> (i % 8) & 1) { if (first < 0) first = i; count++; }"
        yield _line(piece, f"place of {name}.{member.name}", "bits %d, %d", "first", "count") + " }"
    else:
        yield _number(piece, f"place of {name}.{member.name}", f"__builtin_offsetof({name}, {member.name})")
    yield _type(piece, f"type of {name}.{member.name}", f"{name}::{member.name}")


def _method(piece: Piece, own: Class, member: Method) -> Iterator[str]:
    name = f"{own.name}::{member.name}"
    above = (piece.named(each) for each in piece.bases(own.name) - {own.name})
    inherited = any(each.name == member.name and each.virtual for base in above if base for each in base.methods)
    if member.virtual or inherited:
        yield f"{{ auto member = &{name}; long long words[2]; std::memcpy(words, &member, 16);"
        slot = "(words[0] & 1) ? words[0] : -1", "(words[0] & 1) ? words[1] : 0"
        yield _line(piece, f"slot of {name}", "%lld, %lld", *slot) + " }"
    if not member.static:
        yield _type(piece, f"type of {name}()", f"&{name}")


def _bases(piece: Piece, own: Class) -> Iterator[str]:
    for base in sorted(piece.bases(own.name) - {own.name}):
        if piece.has_virtual_base(own.name):
            yield _line(piece, f"base {base} of {own.name}", "%s", '"somewhere"')
        else:
            place = f"(char *)static_cast<{base} *>(({own.name} *)0x100000) - (char *)0x100000"
            yield _number(piece, f"base {base} of {own.name}", place)
    for each in own.bases:
        yield _number(piece, f"virtual base {each.name} of {own.name}", str(int(each.virtual)))


def tables(written: str) -> str:
    """How long vtables are, and which slots destructors have in them: lines like those of the program.

    GCC writes vtables down. Whoever derives from a class has one of the old length, in which the library looks.
    """
    found = []
    for table in _TABLE.finditer(written):
        entries, told = table["entries"].splitlines(), f"{table['prefix']}\t{{}} of {table['name']}{{}}\t{{}}\n"
        found.append(told.format("table", "", len(entries)))
        places = [at for at, entry in enumerate(entries) if "::~" in entry]
        start = next((at for at, entry in enumerate(entries) if "& _ZTI" in entry), 0)
        if places:
            found.append(told.format("slot", "::~", places[0] - start))
    return "".join(found)
