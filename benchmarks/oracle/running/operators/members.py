"""Operators on data members: added, removed, moved, and of other types, widths and places."""

from __future__ import annotations

import re
from itertools import pairwise

from benchmarks.oracle.running.draft import Block, Draft, Field, Nothing
from benchmarks.oracle.running.operators.operator import operator

SUBJECT = "members"
FEW = "numbers of few bits are the same in more room and in less"
NUMBERS = ("int", "long", "char", "double", "short", "unsigned long", "float")
_INTEGERS = re.compile(r"(unsigned |signed )?(int|short|long|char|u?int\d+_t)$|unsigned$")


def _record(draft: Draft) -> Block:
    return draft.pick([each for each in draft.records if draft.fields(each) and each.name])


def _add(draft: Draft, block: Block, line: int, declared: str, type: str = "int") -> str:
    draft.insert(block.file, line, f"    {declared}")
    draft.touch(block.name, draft.fresh, type)
    return f"{block.name}::{draft.fresh}"


def _plain(draft: Draft) -> Field:
    """A member that is one integer."""
    found = [each for block in draft.records for each in draft.fields(block)]
    return draft.pick([each for each in found if _INTEGERS.match(each.type) and not each.bits and not each.count])


@operator(SUBJECT)
def append_field(draft: Draft) -> object:
    block, type = _record(draft), draft.random.choice(NUMBERS)
    return _add(draft, block, draft.fields(block)[-1].line + 1, f"{type} {draft.fresh};", type)


@operator(SUBJECT)
def insert_field(draft: Draft) -> object:
    block, type = _record(draft), draft.random.choice(NUMBERS)
    return _add(draft, block, draft.pick(draft.fields(block)).line, f"{type} {draft.fresh};", type)


@operator(SUBJECT)
def append_small_field(draft: Draft) -> object:
    """Padding may have room for it."""
    block = _record(draft)
    return _add(draft, block, draft.fields(block)[-1].line + 1, f"unsigned char {draft.fresh};")


@operator(SUBJECT)
def insert_bits(draft: Draft) -> object:
    block = _record(draft)
    bits = draft.random.choice((1, 3, 9))
    return _add(draft, block, draft.pick(draft.fields(block)).line + 1, f"unsigned {draft.fresh} : {bits};", "unsigned")


@operator(SUBJECT)
def append_flexible_array(draft: Draft) -> object:
    block = _record(draft)
    draft.insert(block.file, draft.fields(block)[-1].line + 1, f"    char {draft.fresh}[];")
    return block


@operator(SUBJECT)
def remove_field(draft: Draft) -> object:
    found = draft.field()
    draft.forget(found.name)
    draft.put(found.block.file, found.line, None)
    return found


@operator(SUBJECT)
def swap_fields(draft: Draft) -> object:
    block = draft.pick([each for each in draft.records if len(draft.fields(each)) > 1])
    one, other = draft.random.sample(draft.fields(block), 2)
    draft.swap(block.file, one.line, other.line)
    return f"{one} {other}"


@operator(SUBJECT, unshown=FEW)
def widen_field(draft: Draft) -> object:
    found = _plain(draft)
    draft.put(found.block.file, found.line, found.written(type="long" if found.type != "long" else "long long"))
    return found


@operator(SUBJECT, unshown=FEW)
def narrow_field(draft: Draft) -> object:
    found = _plain(draft)
    draft.put(found.block.file, found.line, found.written(type="short" if found.type != "short" else "char"))
    return found


@operator(SUBJECT)
def change_sign_of_field(draft: Draft) -> object:
    found = _plain(draft)
    type = found.type.removeprefix("unsigned").strip() if "unsigned" in found.type else f"unsigned {found.type}"
    draft.put(found.block.file, found.line, found.written(type=type or "int"))
    return found


@operator(SUBJECT)
def turn_field_into_float(draft: Draft) -> object:
    found = _plain(draft)
    draft.put(found.block.file, found.line, found.written(type="float"))
    return found


@operator(SUBJECT)
def rename_field(draft: Draft) -> object:
    found = draft.field(public=True)
    name = f"{found.name}_{draft.fresh}"
    pattern = rf"(?<=->|\w\.|\)\.){found.name}\b" if not draft.cpp else rf"\b{found.name}\b(?!\()"
    draft.substitute(pattern.replace(r"(?<=->|\w\.|\)\.)", r"(?<=[>.])"), name, [draft.code])
    draft.put(found.block.file, found.line, found.written(name=name))
    return found


@operator(SUBJECT)
def grow_array(draft: Draft) -> object:
    found = draft.pick([each for block in draft.records for each in draft.fields(block) if each.count])
    more = draft.random.choice((1, 4, 9))
    draft.put(
        found.block.file, found.line, found.written(count=re.sub(r"\[(\w+)\]", rf"[\1 + {more}]", found.count, count=1))
    )
    return found


@operator(SUBJECT)
def shrink_array(draft: Draft) -> object:
    found = draft.pick([each for block in draft.records for each in draft.fields(block) if each.count])
    draft.put(
        found.block.file, found.line, found.written(count=re.sub(r"\[(\w+)\]", r"[\1 - 1]", found.count, count=1))
    )
    return found


@operator(SUBJECT)
def turn_field_into_array(draft: Draft) -> object:
    found = draft.field(public=True)
    if found.count or found.bits or found.value:
        raise Nothing
    draft.substitute(
        rf"(?<=[>.]){found.name}\b" if not draft.cpp else rf"\b{found.name}\b(?!\()", f"{found.name}[0]", [draft.code]
    )
    draft.put(found.block.file, found.line, found.written(count="[1]"))
    return found


@operator(SUBJECT)
def change_bits(draft: Draft) -> object:
    found = draft.field(bits=True)
    width = max(1, int(found.bits.split()[-1]) + draft.random.choice((-2, -1, 1, 2)))
    line = draft.files[found.block.file][found.line]
    draft.put(found.block.file, found.line, line.replace(found.bits + ";", f" : {width};"))
    return found


@operator(SUBJECT)
def turn_bits_into_field(draft: Draft) -> object:
    found = draft.field(bits=True)
    draft.put(found.block.file, found.line, f"    {found.type} {found.name};")
    return found


@operator(SUBJECT, unshown=FEW)
def turn_field_into_bits(draft: Draft) -> object:
    found = _plain(draft)
    size = {"short": 16, "char": 8, "long": 64}.get(found.type.split()[-1], 32)
    draft.put(found.block.file, found.line, f"    {found.type} {found.name} : {draft.random.choice((size, size - 3))};")
    return found


@operator(SUBJECT)
def align_field(draft: Draft) -> object:
    found = draft.field()
    line = draft.files[found.block.file][found.line].strip()
    draft.put(found.block.file, found.line, f"    __attribute__((aligned({draft.random.choice((8, 16, 32))}))) {line}")
    return found


@operator(SUBJECT)
def pack_record(draft: Draft) -> object:
    return _attributed(draft, "packed")


@operator(SUBJECT, unshown="x86-64 reads what is not aligned")
def align_record(draft: Draft) -> object:
    return _attributed(draft, f"aligned({draft.random.choice((8, 16, 32))})")


def _attributed(draft: Draft, word: str) -> object:
    block = _record(draft)
    line = draft.files[block.file][block.first]
    draft.put(
        block.file, block.first, re.sub(rf"\b{block.key} ?", f"{block.key} __attribute__(({word})) ", line, count=1)
    )
    return block


@operator(SUBJECT)
def pack_by_pragma(draft: Draft) -> object:
    block = _record(draft)
    draft.insert(block.file, block.last + 1, "#pragma pack(pop)")
    draft.insert(block.file, block.first, f"#pragma pack(push, {draft.random.choice((1, 2, 4))})")
    return block


@operator(SUBJECT)
def wrap_fields_in_struct(draft: Draft) -> object:
    """Two neighbours move into an anonymous struct, and stay where they are."""
    return _wrapped(draft, "struct")


@operator(SUBJECT)
def wrap_fields_in_union(draft: Draft) -> object:
    return _wrapped(draft, "union")


def _wrapped(draft: Draft, key: str) -> object:
    block = draft.pick([each for each in draft.records if len(draft.fields(each)) > 1 and each.key != "union"])
    fields = draft.fields(block)
    pairs = [(one, other) for one, other in pairwise(fields) if other.line == one.line + 1]
    one, other = draft.pick([pair for pair in pairs if not pair[0].value and not pair[1].value])
    draft.insert(block.file, other.line + 1, "    };")
    draft.insert(block.file, one.line, f"    {key} {{")
    return f"{one} {other}"


@operator(SUBJECT)
def join_field_with_other(draft: Draft) -> object:
    """A member becomes one of an anonymous union with a new one of the same size or a larger."""
    found = draft.field()
    line = draft.files[found.block.file][found.line].strip()
    type = draft.random.choice(("char", "short", "long", "double"))
    draft.put(found.block.file, found.line, f"    union {{ {line} {type} {draft.fresh}; }};")
    return found


@operator(SUBJECT)
def turn_struct_into_union(draft: Draft) -> object:
    block = draft.pick([each for each in draft.blocks("struct") if each.name])
    draft.substitute(rf"\bstruct (?={block.name}\b)", "union ")
    return block


@operator(SUBJECT)
def make_field_const(draft: Draft) -> object:
    found = draft.field()
    if found.bits or found.count:
        raise Nothing
    writes = rf"([\w().>-]*(?:->|\.)|(?<= )){found.name}(?= [+*-]?= )"
    draft.substitute(writes, rf"*({found.type} *)&\g<1>{found.name}", [draft.code])
    draft.put(
        found.block.file,
        found.line,
        found.written(type=f"const {found.type}" if "*" not in found.type else f"{found.type}const "),
    )
    return found


@operator(SUBJECT)
def drop_const_of_field(draft: Draft) -> object:
    found = draft.field()
    if not found.type.startswith("const "):
        raise Nothing
    draft.put(found.block.file, found.line, found.written(type=found.type.removeprefix("const ")))
    return found


@operator(SUBJECT)
def change_pointer_of_field(draft: Draft) -> object:
    """A pointer to something else, which has the same size."""
    found = draft.pick([each for block in draft.records for each in draft.fields(block) if each.type.endswith("*")])
    draft.put(
        found.block.file,
        found.line,
        found.written(type=draft.random.choice(("void *", "const void *", "unsigned char *", "long *"))),
    )
    return found


@operator(SUBJECT)
def replace_pointer_by_number(draft: Draft) -> object:
    found = draft.pick([each for block in draft.records for each in draft.fields(block) if each.type.endswith("*")])
    draft.put(found.block.file, found.line, found.written(type="unsigned long"))
    return found


@operator(SUBJECT)
def turn_field_into_reference(draft: Draft) -> object:
    found = draft.pick(
        [each for block in draft.records for each in draft.fields(block) if each.type == "int" and draft.cpp]
    )
    draft.put(found.block.file, found.line, found.written(type="const int &"))
    return found


@operator(SUBJECT)
def hide_field(draft: Draft) -> object:
    return _moved(draft, "public", draft.random.choice(("private", "protected")))


@operator(SUBJECT)
def publish_field(draft: Draft) -> object:
    return _moved(draft, draft.random.choice(("private", "protected")), "public")


def _moved(draft: Draft, before: str, after: str) -> object:
    """Another access, at the same place."""
    if not draft.cpp:
        raise Nothing
    found = draft.pick(
        [each for block in draft.blocks("class", "struct") for each in draft.fields(block) if each.access == before]
    )
    draft.insert(found.block.file, found.line + 1, f"{before}:")
    draft.insert(found.block.file, found.line, f"{after}:")
    return found


@operator(SUBJECT)
def make_field_mutable(draft: Draft) -> object:
    found = draft.field()
    if not draft.cpp or "const" in found.type or "mutable" in found.type or "&" in found.type:
        raise Nothing
    draft.put(found.block.file, found.line, found.written(type=f"mutable {found.type}"))
    return found


@operator(SUBJECT)
def initialise_field(draft: Draft) -> object:
    found = draft.field(public=True)
    if not draft.cpp or found.value or found.count or not _INTEGERS.match(found.type):
        raise Nothing
    draft.put(found.block.file, found.line, found.written().replace(";", " = 41;"))
    return found


@operator(SUBJECT)
def overlap_field(draft: Draft) -> object:
    found = draft.field()
    if not draft.cpp:
        raise Nothing
    draft.put(found.block.file, found.line, f"    [[no_unique_address]] {found.written().strip()}")
    return found


@operator(SUBJECT)
def add_static_member(draft: Draft) -> object:
    block = _record(draft)
    if not draft.cpp or block.template:
        raise Nothing
    draft.insert(block.file, draft.fields(block)[0].line, f"    static const int {draft.fresh} = 4;")
    return block


@operator(SUBJECT)
def remove_static_member(draft: Draft) -> object:
    statics = [
        (block, at)
        for block in draft.records
        for at in range(block.first, block.last)
        if re.match(r"    static (const )?\w+ \w+( = \w+)?;$", draft.files[block.file][at])
    ]
    block, at = draft.pick(statics)
    name = draft.files[block.file][at].split(" = ")[0].rstrip(";").split()[-1]
    draft.substitute(rf"\n[^\n]*\b{name}\b[^\n]*(?=\n)", "", [draft.code])
    draft.put(block.file, at, None)
    return f"{block.name}::{name}"


@operator(SUBJECT)
def volatile_field(draft: Draft) -> object:
    found = _plain(draft)
    draft.put(found.block.file, found.line, found.written(type=f"volatile {found.type}"))
    return found


@operator(SUBJECT)
def use_reserved_room(draft: Draft) -> object:
    found = draft.pick([each for block in draft.records for each in draft.fields(block) if each.name == "reserved"])
    count = int(found.count.strip("[]")) - 1
    draft.put(
        found.block.file, found.line, f"    {spaced_of(found)} {draft.fresh};\n{found.written(count=f'[{count}]')}"
    )
    draft.touch(found.block.name, draft.fresh, spaced_of(found))
    return found


def spaced_of(found: Field) -> str:
    """The type of a member."""
    return found.type.strip()


@operator(SUBJECT)
def change_inside_of_handle(draft: Draft) -> object:
    """A struct or class that the library alone defines."""
    hidden = [each for each in draft.blocks("struct", "class", file=draft.code) if draft.fields(each)]
    block = draft.pick(hidden)
    draft.insert(block.file, draft.pick(draft.fields(block)).line, f"    long {draft.fresh};")
    return block


@operator(SUBJECT)
def make_opaque(draft: Draft) -> object:
    """The definition moves from the header into the library."""
    block = draft.pick([each for each in draft.blocks("struct") if each.name and not draft.cpp and not each.bases])
    text = draft.files[block.file][block.first : block.last + 1]
    draft.files[block.file][block.first : block.last + 1] = [f"struct {block.name};"]
    place = max(at for at, line in enumerate(draft.files[draft.code]) if line.startswith("#include"))
    draft.insert(draft.code, place + 1, "\n".join(text))
    return block
