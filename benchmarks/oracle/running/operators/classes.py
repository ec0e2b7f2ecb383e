"""Operators on bases, virtual functions, and the functions that compilers make."""

from __future__ import annotations

import re
from dataclasses import replace

from benchmarks.oracle.running.draft import Block, Draft, Function, Nothing
from benchmarks.oracle.running.operators.operator import operator

UNCALLED = "nothing of the library calls what a derived class has no slot for"
BASES, VIRTUALS, SPECIAL = "bases", "virtual functions", "special members"


def _class(draft: Draft, *, bases: int = 0) -> Block:
    if not draft.cpp:
        raise Nothing
    return draft.pick([each for each in draft.blocks("struct", "class") if each.name and len(each.bases) >= bases])


def _derive(draft: Draft, block: Block, bases: str) -> None:
    line = draft.files[block.file][block.first]
    draft.put(
        block.file, block.first, f"{line.removesuffix(' {').partition(' : ')[0]}{f' : {bases}' if bases else ''} {{"
    )


def _bases(draft: Draft, block: Block) -> list[str]:
    """The bases as they are written."""
    told = draft.files[block.file][block.first].removesuffix(" {").partition(" : ")[2]
    return told.split(", ") if told else []


def _access(block: Block) -> str:
    return "public " if block.key == "class" else ""


@operator(BASES)
def add_empty_base(draft: Draft) -> object:
    block = _class(draft)
    _derive(draft, block, ", ".join([f"{_access(block)}{draft.fresh}", *_bases(draft, block)]))
    draft.insert(block.file, block.first, f"struct {draft.fresh} {{}};")
    return block


@operator(BASES)
def add_base(draft: Draft) -> object:
    block = _class(draft)
    listed = _bases(draft, block)
    listed.insert(draft.random.randint(0, len(listed)), f"{_access(block)}{draft.fresh}")
    _derive(draft, block, ", ".join(listed))
    draft.insert(block.file, block.first, f"struct {draft.fresh} {{ int {draft.fresh}own = 5; }};")
    return block


@operator(BASES)
def add_virtual_base(draft: Draft) -> object:
    block = _class(draft)
    _derive(draft, block, ", ".join([*_bases(draft, block), f"public virtual {draft.fresh}"]))
    draft.insert(block.file, block.first, f"struct {draft.fresh} {{ int {draft.fresh}own = 5; }};")
    return block


@operator(BASES)
def remove_base(draft: Draft) -> object:
    block = _class(draft, bases=1)
    listed = _bases(draft, block)
    gone = listed.pop(draft.random.randrange(len(listed)))
    _derive(draft, block, ", ".join(listed))
    return f"{block.name}: {gone}"


@operator(BASES)
def swap_bases(draft: Draft) -> object:
    block = _class(draft, bases=2)
    _derive(draft, block, ", ".join(reversed(_bases(draft, block))))
    return block


@operator(BASES)
def derive_virtually_or_not(draft: Draft) -> object:
    block = _class(draft, bases=1)
    listed = _bases(draft, block)
    at = draft.random.randrange(len(listed))
    listed[at] = listed[at].replace("virtual ", "") if "virtual " in listed[at] else f"virtual {listed[at]}"
    _derive(draft, block, ", ".join(listed))
    return f"{block.name}: {listed[at]}"


@operator(BASES)
def derive_privately(draft: Draft) -> object:
    block = _class(draft, bases=1)
    listed = _bases(draft, block)
    at = draft.random.randrange(len(listed))
    listed[at] = f"{draft.random.choice(('private', 'protected'))} {listed[at].replace('public ', '')}"
    _derive(draft, block, ", ".join(listed))
    return f"{block.name}: {listed[at]}"


@operator(BASES)
def hoist_field_into_base(draft: Draft) -> object:
    """The first member moves into a new base, and stays where it is."""
    found = draft.pick(
        [each for block in draft.blocks("struct", "class") for each in draft.fields(block)[:1] if draft.cpp]
    )
    block = found.block
    _derive(draft, block, ", ".join([f"{_access(block)}{draft.fresh}", *_bases(draft, block)]))
    draft.put(block.file, found.line, None)
    draft.insert(block.file, block.first, f"struct {draft.fresh} {{ {found.written().strip()} }};")
    return found


@operator(BASES)
def finish_class(draft: Draft) -> object:
    block = _class(draft)
    line = draft.files[block.file][block.first]
    draft.put(block.file, block.first, re.sub(rf"\b{block.name}\b", f"{block.name} final", line, count=1))
    return block


# --- virtual functions ---


def _method(draft: Draft, *, virtual: bool | None = None, special: bool = False) -> Function:
    found = [each for each in draft.methods if each.special == special or each.name.startswith("operator")]
    if virtual is not None:
        found = [each for each in found if each.virtual is virtual and "static" not in each.head]
    return draft.pick(found)


def _polymorphic(draft: Draft) -> Block:
    return draft.pick(
        [each for each in draft.blocks("struct", "class") if any(own.virtual for own in draft.functions(each))]
    )


def _add_virtual(draft: Draft, *, first: bool, tail: str = "", head: str = "virtual ") -> object:
    block = _polymorphic(draft)
    virtuals = [each for each in draft.functions(block) if each.virtual]
    written = [at for at in range(block.first, block.last) if "virtual " in draft.files[block.file][at]]
    line = virtuals[0].line if first else max(virtuals[-1].line, *written, 0) + 1
    draft.insert(block.file, line, f"    {head}int {draft.fresh}v(int given){tail}")
    if tail == ";":
        draft.files[draft.code] += _reopened(
            draft, f"int {block.name}::{draft.fresh}v(int given) {{\n    return given;\n}}"
        )
    return block


def _reopened(draft: Draft, text: str) -> list[str]:
    """Text at the end of the code, inside of the namespace of the library."""
    space = next((line.split()[1] for line in draft.files[draft.code] if re.match(r"namespace \w+ \{", line)), "")
    return (f"namespace {space} {{\n{text}\n}}" if space else text).split("\n")


@operator(VIRTUALS, unshown=UNCALLED)
def append_virtual(draft: Draft) -> object:
    return _add_virtual(draft, first=False, tail=";")


@operator(VIRTUALS, unshown=UNCALLED)
def insert_virtual(draft: Draft) -> object:
    return _add_virtual(draft, first=True, tail=";")


@operator(VIRTUALS, unshown=UNCALLED)
def append_inline_virtual(draft: Draft) -> object:
    return _add_virtual(draft, first=False, tail=" { return given; }")


@operator(VIRTUALS, unshown=UNCALLED)
def append_pure_virtual(draft: Draft) -> object:
    return _add_virtual(draft, first=False, tail=" = 0;")


@operator(VIRTUALS)
def add_called_virtual(draft: Draft) -> object:
    """A new virtual function that another function of the library calls."""
    block = _polymorphic(draft)
    virtuals = [each for each in draft.functions(block) if each.virtual]
    callers = [
        each
        for each in draft.functions(block)
        if not each.special and "static" not in each.head and " const" not in each.tail
    ]
    draft.begin(draft.pick(callers), f"{draft.fresh}v(3);")
    draft.insert(block.file, draft.pick(virtuals).line + 1, f"    virtual int {draft.fresh}v(int given);")
    draft.files[draft.code] += _reopened(
        draft, f"int {block.name}::{draft.fresh}v(int given) {{\n    return given;\n}}"
    )
    return block


@operator(VIRTUALS)
def swap_virtuals(draft: Draft) -> object:
    block = _polymorphic(draft)
    one, other = draft.random.sample(draft.pick([[each for each in draft.functions(block) if each.virtual]]) * 2, 2)
    if one == other:
        raise Nothing
    draft.swap(block.file, one.line, other.line)
    return f"{one} {other.name}"


@operator(VIRTUALS)
def remove_virtual(draft: Draft) -> object:
    """With those that override it; the library calls it no longer."""
    own = draft.pick([each for each in draft.methods if each.virtual and not each.special])
    while found := next((each for each in draft.methods if each.name == own.name and each.virtual), None):
        draft.put(found.file, found.line, None)
        if "= 0" not in found.tail:
            draft.undefine(found)
    called = rf"(\w+(\[\w+\])?(->|\.|::))?\b{own.name}\([^()]*\)"
    draft.substitute(called, '""' if "*" in own.result else "0", [draft.code])
    return own


@operator(VIRTUALS, unshown=UNCALLED)
def make_virtual(draft: Draft) -> object:
    own = draft.pick(
        [each for each in draft.methods if not each.virtual and not each.special and "static" not in each.head]
    )
    draft.put(own.file, own.line, replace(own, head=f"virtual {own.head}").declared)
    return own


@operator(VIRTUALS)
def drop_virtual(draft: Draft) -> object:
    own = _method(draft, virtual=True)
    if "= 0" in own.tail:
        raise Nothing
    tail = own.tail.replace(" override", "")
    draft.put(own.file, own.line, replace(own, head=own.head.replace("virtual ", ""), tail=tail).declared)
    return own


@operator(VIRTUALS)
def make_pure(draft: Draft) -> object:
    own = _method(draft, virtual=True)
    draft.put(own.file, own.line, f"{own.declared[:-1]} = 0;")
    return own


@operator(VIRTUALS)
def implement_pure(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if "= 0" in each.tail and not each.result.startswith("void")])
    draft.put(own.file, own.line, f"{own.declared.replace(' = 0;', '')} {{ return 0; }}")
    return own


@operator(VIRTUALS, unshown="these programs do not override every virtual function")
def finish_method(draft: Draft) -> object:
    own = _method(draft, virtual=True)
    draft.put(own.file, own.line, f"{own.declared[:-1]} final;")
    return own


@operator(VIRTUALS)
def override_inherited(draft: Draft) -> object:
    """A class overrides a virtual function of its base, to the same effect."""
    blocks = {each.name: each for each in draft.blocks("struct", "class")}
    pairs = [(each, blocks[base]) for each in blocks.values() for base in each.bases if base in blocks]
    block, base = draft.pick(pairs)
    known = {each.name for each in draft.functions(block)}
    own = draft.pick(
        [each for each in draft.functions(base) if each.virtual and each.name not in known and not each.special]
    )
    passed = ", ".join(each.split()[-1].lstrip("*&") for each in own.parameters)
    draft.insert(
        block.file,
        block.last,
        f"public:\n    {own.result}{own.name}({', '.join(own.parameters)}){own.tail.replace(' = 0', '')};",
    )
    words = f"{own.result}{block.name}::{own.name}({', '.join(own.parameters)}){own.tail.replace(' override', '')}"
    back = "" if own.result.startswith("void") else "return "
    draft.files[draft.code] += _reopened(draft, f"{words} {{\n    {back}{base.name}::{own.name}({passed});\n}}")
    return f"{block.name}::{own.name}"


@operator(VIRTUALS)
def remove_override(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if "override" in each.tail and not each.special])
    draft.put(own.file, own.line, None)
    draft.undefine(own)
    return own


@operator(VIRTUALS)
def change_virtual_destructor(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if each.name.startswith("~")])
    head = own.head.replace("virtual ", "") if "virtual " in own.head else f"virtual {own.head}"
    draft.put(own.file, own.line, replace(own, head=head).declared)
    return own


@operator(VIRTUALS)
def move_destructor(draft: Draft) -> object:
    """A virtual destructor gets another slot."""
    own = draft.pick([each for each in draft.methods if each.name.startswith("~") and each.virtual])
    block = next(each for each in draft.blocks("struct", "class") if each.name == own.owner)
    last = [each for each in draft.functions(block) if each.virtual][-1]
    draft.insert(own.file, last.line + 1, own.declared)
    draft.put(own.file, own.line, None)
    return own


@operator(VIRTUALS, unshown=UNCALLED)
def return_covariantly(draft: Draft) -> object:
    block = draft.pick([each for each in draft.blocks("struct", "class") if each.bases and draft.cpp])
    base = next((each for each in draft.blocks("struct", "class") if each.name == block.bases[0]), None)
    if base is None:
        raise Nothing
    draft.insert(base.file, base.last, f"public:\n    virtual {base.name} *{draft.fresh}c() {{ return this; }}")
    block = next(each for each in draft.blocks("struct", "class") if each.name == block.name)
    draft.insert(block.file, block.last, f"public:\n    {block.name} *{draft.fresh}c() override {{ return this; }}")
    return block


@operator(VIRTUALS)
def make_class_polymorphic(draft: Draft) -> object:
    block = draft.pick(
        [each for each in draft.blocks("struct", "class") if draft.cpp and not each.bases and not each.template]
    )
    if any(each.virtual for each in draft.functions(block)):
        raise Nothing
    draft.insert(block.file, block.last, f"public:\n    virtual int {draft.fresh}v() {{ return 1; }}")
    return block


# --- special members ---


def _give(draft: Draft, *declared: str) -> object:
    """Let a class declare functions, written with ``@`` for its name."""
    block = _class(draft)
    text = "\n".join(f"    {each}".replace("@", block.name) for each in declared)
    draft.insert(block.file, block.last, f"public:\n{text}")
    return block


@operator(SPECIAL)
def add_destructor(draft: Draft) -> object:
    return _give(draft, "~@() {}")


@operator(SPECIAL)
def default_destructor(draft: Draft) -> object:
    return _give(draft, "~@() = default;")


@operator(SPECIAL)
def add_copy_constructor(draft: Draft) -> object:
    return _give(draft, "@() {}", "@(const @ &other) { __builtin_memcpy((void *)this, &other, sizeof *this); }")


@operator(SPECIAL)
def delete_copy(draft: Draft) -> object:
    return _give(draft, "@(const @ &) = delete;")


@operator(SPECIAL)
def delete_assignment(draft: Draft) -> object:
    return _give(draft, "@ &operator=(const @ &) = delete;")


@operator(SPECIAL)
def default_copy(draft: Draft) -> object:
    return _give(draft, "@(const @ &) = default;", "@ &operator=(const @ &) = default;")


@operator(SPECIAL)
def add_move_constructor(draft: Draft) -> object:
    return _give(draft, "@(@ &&) = default;")


@operator(SPECIAL)
def add_default_constructor(draft: Draft) -> object:
    return _give(draft, "@() {}")


@operator(SPECIAL)
def default_constructor(draft: Draft) -> object:
    return _give(draft, "@() = default;")


@operator(SPECIAL)
def add_value_constructor(draft: Draft) -> object:
    return _give(draft, "explicit @(char *, char *, char *) {}")


@operator(SPECIAL)
def add_assignment(draft: Draft) -> object:
    return _give(
        draft, "@ &operator=(const @ &other) { __builtin_memcpy((void *)this, &other, sizeof *this); return *this; }"
    )


@operator(SPECIAL)
def add_comparison(draft: Draft) -> object:
    return _give(draft, "bool operator==(const @ &other) const { return this == &other; }")


@operator(SPECIAL)
def remove_special_member(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if each.special])
    if "= de" not in own.tail:
        draft.undefine(own)
    draft.put(own.file, own.line, None)
    return own


@operator(SPECIAL)
def change_explicit(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if each.name == each.owner and len(each.parameters) == 1])
    head = own.head.replace("explicit ", "") if "explicit" in own.head else f"explicit {own.head}"
    draft.put(own.file, own.line, replace(own, head=head).declared)
    return own


@operator(SPECIAL)
def inline_special_member(draft: Draft) -> object:
    """A destructor is defined in the header."""
    own = draft.pick([each for each in draft.methods if each.name.startswith("~") and not each.tail])
    draft.undefine(own)
    draft.put(own.file, own.line, f"{own.declared[:-1]} {{}}")
    return own


@operator(SPECIAL)
def hide_special_member(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if each.special and each.access == "public"])
    draft.insert(own.file, own.line + 1, "public:")
    draft.insert(own.file, own.line, draft.random.choice(("private:", "protected:")))
    return own
