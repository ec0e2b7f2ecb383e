"""Operators on enumerations, macros, variables, names of types, and templates with the bodies that programs compile."""

from __future__ import annotations

import re

from benchmarks.oracle.running.draft import Block, Draft, Nothing
from benchmarks.oracle.running.operators.operator import operator

ENUMERATIONS, MACROS, VARIABLES, TYPES, TEMPLATES, INLINE = (
    "enumerations",
    "macros",
    "variables",
    "names of types",
    "templates",
    "inline bodies",
)


def _enumeration(draft: Draft) -> Block:
    return draft.pick([each for each in draft.blocks("enum") if draft.enumerators(each)])


@operator(ENUMERATIONS)
def insert_enumerator(draft: Draft) -> object:
    block = _enumeration(draft)
    found = draft.pick(draft.enumerators(block))
    draft.insert(block.file, found.line, f"    {found.name}_{draft.fresh},")
    return f"{block.name}: {found}"


@operator(ENUMERATIONS)
def append_enumerator(draft: Draft) -> object:
    block = _enumeration(draft)
    last = draft.enumerators(block)[-1]
    line = draft.files[block.file][last.line].rstrip(",")
    value = draft.random.choice(("", " = 100", " = 70000", " = -5"))
    draft.put(block.file, last.line, f"{line},\n    {last.name}_{draft.fresh}{value}")
    return f"{block.name}: {last}"


@operator(ENUMERATIONS)
def remove_enumerator(draft: Draft) -> object:
    """The library goes on with its number."""
    block = draft.pick([each for each in draft.blocks("enum") if draft.enumerators(each)])
    listed = draft.enumerators(block)
    found = draft.pick(listed)
    number = found.value or str(listed.index(found))
    key = block.name if draft.cpp or block.name.endswith("_kind") else f"enum {block.name}"
    draft.substitute(rf"(\b{block.name}::)?\b{found.name}\b", f"(({key}){number})", [draft.code])
    draft.put(block.file, found.line, None)
    return found


@operator(ENUMERATIONS)
def change_enumerator(draft: Draft) -> object:
    block = _enumeration(draft)
    found = draft.pick(draft.enumerators(block))
    draft.put(block.file, found.line, f"    {found.name} = {draft.random.randint(5, 9)},")
    return found


@operator(ENUMERATIONS)
def swap_enumerators(draft: Draft) -> object:
    block = _enumeration(draft)
    one, other = draft.random.sample(draft.enumerators(block) * 2, 2)
    if one == other or not all(draft.files[block.file][each.line].endswith(",") for each in (one, other)):
        raise Nothing
    draft.swap(block.file, one.line, other.line)
    return f"{one} {other}"


@operator(ENUMERATIONS)
def rename_enumerator(draft: Draft) -> object:
    block = _enumeration(draft)
    found = draft.pick(draft.enumerators(block))
    draft.substitute(rf"\b{found.name}\b", f"{found.name}_{draft.fresh}")
    return found


@operator(ENUMERATIONS)
def change_underlying_type(draft: Draft) -> object:
    block = _enumeration(draft)
    if not draft.cpp:
        raise Nothing
    line = draft.files[block.file][block.first].removesuffix(" {").partition(" : ")[0]
    draft.put(
        block.file,
        block.first,
        f"{line} : {draft.random.choice(('unsigned char', 'short', 'long', 'unsigned', 'int'))} {{",
    )
    return block


@operator(ENUMERATIONS)
def pack_enumeration(draft: Draft) -> object:
    block = _enumeration(draft)
    line = draft.files[block.file][block.first]
    draft.put(
        block.file, block.first, line.replace("enum ", "enum __attribute__((packed)) ", 1) if "enum " in line else line
    )
    return block


@operator(ENUMERATIONS)
def scope_enumeration(draft: Draft) -> object:
    block = _enumeration(draft)
    line = draft.files[block.file][block.first]
    if not draft.cpp:
        raise Nothing
    draft.put(
        block.file,
        block.first,
        line.replace("enum class ", "enum ") if "enum class" in line else line.replace("enum ", "enum class ", 1),
    )
    for each in draft.enumerators(block):
        draft.substitute(rf"(?<!:)\b{each.name}\b", f"{block.name}::{each.name}", [draft.code])
    return block


# --- macros ---


@operator(MACROS)
def change_macro(draft: Draft) -> object:
    found = draft.pick(draft.macros)
    value = found.value
    other = f'{value[:-1]}-{draft.fresh}"' if value.endswith('"') else f"({value} + 1)"
    if "(" in found.name or "__attribute__" in value or "(" in value:
        raise Nothing
    draft.put(found.file, found.line, f"#define {found.name} {other}")
    return found


@operator(MACROS)
def respell_macro(draft: Draft) -> object:
    found = draft.pick([each for each in draft.macros if each.value.isdigit()])
    draft.put(found.file, found.line, f"#define {found.name} {hex(int(found.value))}")
    return found


@operator(MACROS)
def remove_macro(draft: Draft) -> object:
    found = draft.pick([each for each in draft.macros if "__attribute__" not in each.value])
    draft.put(found.file, found.line, None)
    draft.insert(draft.code, 1, f"#define {found.name} {found.value}")
    return found


@operator(MACROS)
def turn_macro_into_enumerator(draft: Draft) -> object:
    found = draft.pick([each for each in draft.macros if each.value.isdigit()])
    draft.put(found.file, found.line, f"enum {{ {found.name} = {found.value} }};")
    return found


@operator(MACROS)
def change_function_macro(draft: Draft) -> object:
    places = [
        (file, at)
        for file in draft.headers
        for at, line in enumerate(draft.files[file])
        if re.match(r"#define \w+\(\w+\) ", line)
    ]
    file, at = draft.pick(places)
    line = draft.files[file][at]
    found = re.match(r"(#define (\w+)\((\w+)\) )(.*)$", line)
    if not found:
        raise Nothing
    draft.put(
        file,
        at,
        draft.random.choice((f"#define {found[2]}({found[3]}, more) {found[4]}", f"{found[1]}(({found[4]}) + 1)")),
    )
    return found[2]


@operator(MACROS)
def poison_name(draft: Draft) -> object:
    own = draft.pick([each for each in draft.free if not each.name.startswith("operator")])
    draft.files[own.file].append(f"#ifndef BUILDS_LIBRARY\n#pragma GCC poison {own.name}\n#endif")
    draft.insert(draft.code, 0, "#define BUILDS_LIBRARY")
    return own


# --- variables ---


def _redeclare(draft: Draft, found: object, pattern: str, text: str) -> object:
    if not draft.substitute(pattern, text):
        raise Nothing
    return found


@operator(VARIABLES, unshown="programs copy as many bytes as they know, and see no others")
def change_type_of_variable(draft: Draft) -> object:
    found = draft.pick([each for each in draft.variables if "*" not in each.type])
    type = draft.random.choice(("long", "short", "float", "char"))
    return _redeclare(
        draft,
        found,
        rf"(?m)^((?:[A-Z]+_EXPORT )?(?:extern )?)(const |volatile )?[\w ]+? {found.name}\b(?=[;\[ ])",
        rf"\g<1>\g<2>{type} {found.name}",
    )


@operator(VARIABLES, unshown="programs copy as many bytes as they know, and see no others")
def grow_variable(draft: Draft) -> object:
    found = draft.pick([each for each in draft.variables if each.value])
    count = int(found.value.strip("[]")) + draft.random.choice((1, 4, -1))
    return _redeclare(draft, found, rf"\b{found.name}\[\d+\](?= =|;)", f"{found.name}[{count}]")


@operator(VARIABLES, unshown="these programs write to their own copy of the data")
def make_variable_const(draft: Draft) -> object:
    found = draft.pick([each for each in draft.variables if "const" not in each.type])
    return _redeclare(
        draft, found, rf"(?m)^((?:[A-Z]+_EXPORT )?(?:extern )?)([\w ]+? {found.name}\b)(?=[;\[ ])", r"\g<1>const \g<2>"
    )


@operator(VARIABLES, unshown="the library does not write to it")
def drop_const_of_variable(draft: Draft) -> object:
    found = draft.pick([each for each in draft.variables if each.type.startswith("const ")])
    return _redeclare(draft, found, rf"(?m)^((?:extern )?)const ([\w *]+?{found.name}\b)(?=[;\[ ])", r"\g<1>\g<2>")


@operator(VARIABLES)
def make_variable_local_to_threads(draft: Draft) -> object:
    found = draft.pick(draft.variables)
    return _redeclare(
        draft,
        found,
        rf"(?m)^((?:extern )?)((?:const |volatile )?[\w *]+?{found.name}\b)(?=[;\[ ])",
        r"\g<1>__thread \g<2>",
    )


@operator(VARIABLES)
def remove_variable(draft: Draft) -> object:
    found = draft.pick(draft.variables)
    draft.put(found.file, found.line, None)
    draft.substitute(rf"(?m)^([\w ]+ \**{found.name}\b)", r"static \g<1>", [draft.code])
    return found


@operator(VARIABLES)
def hide_variable(draft: Draft) -> object:
    """Declared as before, and exported no longer."""
    found = draft.pick(draft.variables)
    return _redeclare(
        draft, found, rf"(?m)^([\w ]+ \**{found.name}\b.* =.*)$", r'__attribute__((visibility("hidden"))) \g<1>'
    )


@operator(VARIABLES)
def change_initial_value(draft: Draft) -> object:
    found = draft.pick([each for each in draft.variables if "const" in each.type or "[" in each.value])
    return _redeclare(draft, found, rf"(?m)^(.*\b{found.name}\b.* = \{{?)(\d+)", r"\g<1>9\g<2>")


@operator(VARIABLES)
def align_variable(draft: Draft) -> object:
    found = draft.pick(draft.variables)
    return _redeclare(draft, found, rf"(?m)^([\w ]+ \**{found.name}\b.* =.*)$", r"__attribute__((aligned(64))) \g<1>")


@operator(VARIABLES)
def change_constant(draft: Draft) -> object:
    places = [
        (file, at)
        for file in draft.headers
        for at, line in enumerate(draft.files[file])
        if re.match(r"(    static |constexpr |)const\w* (int|double) ?\w+ = \w+;", line)
        or re.match(r"(constexpr|const) \w+ \w+ = \d+;", line)
    ]
    file, at = draft.pick(places)
    line = draft.files[file][at]
    draft.put(file, at, line.replace(";", " + 1;"))
    return line.strip()


# --- names of types ---


@operator(TYPES)
def retype_alias(draft: Draft) -> object:
    places = [
        (file, at)
        for file in draft.headers
        for at, line in enumerate(draft.files[file])
        if re.match(r"typedef (unsigned int|uint32_t) \w+;", line)
    ]
    file, at = draft.pick(places)
    line = draft.files[file][at]
    type = draft.random.choice(("unsigned long", "unsigned short", "int", "float"))
    draft.put(file, at, f"typedef {type} {line.split()[-1]}")
    return line.split()[-1]


@operator(TYPES)
def rename_record(draft: Draft) -> object:
    block = draft.pick([each for each in draft.records if each.name])
    draft.substitute(rf"\b{block.name}\b(?!\.h)", f"{block.name}_{draft.fresh}", [*draft.headers, draft.code])
    return block


@operator(TYPES)
def rename_record_with_alias(draft: Draft) -> object:
    block = draft.pick([each for each in draft.records if each.name and not each.template])
    draft.substitute(rf"\b{block.name}\b(?!\.h)", f"{block.name}_{draft.fresh}", [*draft.headers, draft.code])
    key = "" if draft.cpp else f"{block.key} "
    draft.insert(block.file, block.last + 1, f"typedef {key}{block.name}_{draft.fresh} {block.name};")
    return block


@operator(TYPES)
def swap_class_and_struct(draft: Draft) -> object:
    block = draft.pick([each for each in draft.blocks("struct", "class") if draft.cpp and each.name])
    line = draft.files[block.file][block.first]
    other = "class" if block.key == "struct" else "struct"
    draft.put(block.file, block.first, line.replace(block.key, other, 1))
    if block.key == "struct":
        draft.insert(block.file, block.first + 1, "public:")
    return block


@operator(TYPES)
def move_into_namespace(draft: Draft) -> object:
    block = draft.pick(
        [
            each
            for each in draft.blocks("struct")
            if draft.cpp and each.name and not each.template and not draft.functions(each)
        ]
    )
    draft.insert(block.file, block.last + 1, f"}}\nusing {draft.fresh}::{block.name};")
    draft.insert(block.file, block.first, f"namespace {draft.fresh} {{")
    return block


@operator(TYPES)
def change_inline_namespace(draft: Draft) -> object:
    if not draft.substitute(r"inline namespace v1 ", "inline namespace v2 "):
        raise Nothing
    return "v1"


@operator(TYPES)
def rename_namespace(draft: Draft) -> object:
    spaces = sorted(
        {
            found[1]
            for line in draft.files[draft.code]
            if (found := re.match(r"namespace (\w+) \{", line)) and found[1] != "detail"
        }
    )
    name = draft.pick(spaces)
    draft.substitute(rf"\b{name}(?= \{{|::)", f"{name}{draft.fresh}")
    if draft.random.random() < 0.5:
        draft.files[draft.headers[0]].append(f"namespace {name} = {name}{draft.fresh};")
    return name


# --- templates ---


def _template(draft: Draft) -> Block:
    return draft.pick([each for each in draft.blocks("struct", "class") if each.template])


@operator(TEMPLATES)
def add_template_parameter(draft: Draft) -> object:
    """With a default."""
    block = _template(draft)
    at = next(at for at in range(block.first, -1, -1) if "template <" in draft.files[block.file][at])
    line = draft.files[block.file][at]
    draft.put(block.file, at, line.replace(">", ", int Extra = 1>", 1))
    return block


@operator(TEMPLATES)
def change_template_default(draft: Draft) -> object:
    if not draft.substitute(r"int N = 4>", "int N = 6>", draft.headers):
        raise Nothing
    return "Ring N"


@operator(TEMPLATES)
def drop_instance(draft: Draft) -> object:
    """An explicit instance is made no longer, with or without its declaration."""
    if not draft.substitute(r"template struct Range<long>;", "", [draft.code]):
        raise Nothing
    if draft.random.random() < 0.5:
        draft.substitute(r"extern template struct Range<long>;", "", draft.headers)
    return "Range<long>"


@operator(TEMPLATES)
def hide_template_body(draft: Draft) -> object:
    """The body of a template moves into the library, which makes one instance."""
    line = "template <class T> T Range<T>::span() const { return high - low; }"
    if not draft.substitute(re.escape(line), "", draft.headers):
        raise Nothing
    draft.substitute(r"template struct Range<long>;", f"{line}\ntemplate struct Range<long>;", [draft.code])
    return "Range::span"


@operator(TEMPLATES)
def drop_specialisation(draft: Draft) -> object:
    if not draft.substitute(r"template <> int largest<int>\(int one, int other\);", "", draft.headers):
        raise Nothing
    lines = draft.files[draft.code]
    at = lines.index("template <> int largest<int>(int one, int other) {")
    if draft.random.random() < 0.5:
        del lines[at : at + 3]
    return "largest<int>"


@operator(TEMPLATES)
def rename_template_parameter(draft: Draft) -> object:
    block = _template(draft)
    for at in range(block.first - 1, block.last + 1):
        draft.put(block.file, at, re.sub(r"\bT\b", "Item", draft.files[block.file][at]))
    return block


@operator(TEMPLATES)
def restrict_template(draft: Draft) -> object:
    """A template refuses arguments that programs pass."""
    block = _template(draft)
    draft.insert(block.file, block.first + 1, '    static_assert(sizeof(T) >= 4, "too small");')
    return block


# --- bodies that programs compile ---


def _bodies(draft: Draft) -> list[tuple[str, int]]:
    pattern = re.compile(r"(?: {4})?(?!#).*\) ?(?:const |noexcept )*\{ .*return .*\}$")
    return [(file, at) for file in draft.headers for at, line in enumerate(draft.files[file]) if pattern.match(line)]


@operator(INLINE)
def change_inline_body(draft: Draft) -> object:
    file, at = draft.pick(_bodies(draft))
    line = draft.files[file][at]
    found = re.search(r"return ([^;]+);", line)
    if not found or "&" in found[1]:
        raise Nothing
    draft.put(file, at, line.replace(found[0], f"return ({found[1]}) + 1;"))
    return line.strip()[:60]


@operator(INLINE)
def respell_inline_body(draft: Draft) -> object:
    file, at = draft.pick(_bodies(draft))
    line = draft.files[file][at]
    draft.put(file, at, re.sub(r"return ([^;]+);", r"return (\1);", line, count=1))
    return line.strip()[:60]


@operator(INLINE)
def call_new_function_from_body(draft: Draft) -> object:
    """An inline body calls a function that the library got."""
    file, at = draft.pick(_bodies(draft))
    line = draft.files[file][at]
    name = f"pool_{draft.fresh}" if "lib.map" in draft.files else draft.fresh
    linkage = 'extern "C" ' if draft.cpp else ""
    draft.insert(
        file,
        at,
        f"{line[: len(line) - len(line.lstrip())]}{linkage}int {name}(int given);" if not line.startswith(" ") else "",
    )
    draft.put(file, at + 1, re.sub(r"return ([^;]+);", rf"{name}(1); return \1;", line, count=1))
    draft.files[draft.code].append(
        f'{linkage}__attribute__((visibility("default"))) int {name}(int given) {{\n    return given;\n}}'
    )
    return line.strip()[:60]


@operator(INLINE)
def outline_body(draft: Draft) -> object:
    """An inline function becomes one that the library exports."""
    places = [(file, at) for file, at in _bodies(draft) if re.match(r"(static )?inline ", draft.files[file][at])]
    file, at = draft.pick(places)
    head, _, body = draft.files[file][at].partition(" { ")
    head = re.sub(r"^(static )?inline ", "", head)
    space = [found[1] for line in draft.files[file][:at] if (found := re.match(r"namespace (\w+) \{", line))]
    export = "" if draft.code == "lib.c" else '__attribute__((visibility("default"))) '
    draft.put(file, at, f"{export}{head};")
    text = f"{re.sub(r' = [^,)]+', '', head)} {{ {body}"
    for each in reversed(space):
        text = f"namespace {each} {{\n{text}\n}}"
    draft.files[draft.code] += text.split("\n")
    return head


@operator(INLINE)
def change_type_of_detail(draft: Draft) -> object:
    """A type that only inline bodies name gets a member."""
    block = draft.pick([each for each in draft.records if "detail" in each.file or "impl" in each.file])
    draft.insert(block.file, draft.pick(draft.fields(block)).line, f"    int {draft.fresh};")
    draft.touch(block.name, draft.fresh)
    return block


@operator(INLINE)
def swap_fields_of_detail(draft: Draft) -> object:
    block = draft.pick([each for each in draft.records if "detail" in each.file or "impl" in each.file])
    one, other = draft.random.sample(draft.fields(block), 2)
    draft.swap(block.file, one.line, other.line)
    return block


@operator(INLINE)
def rename_function_of_detail(draft: Draft) -> object:
    """A function that only inline bodies call, renamed with them."""
    own = draft.pick([each for each in draft.free if "detail" in each.file or "impl" in each.file])
    draft.substitute(
        rf"\b{own.name}\((?!struct pool_mark \*p\);?$)", f"{own.name}_{draft.fresh}(", [*draft.headers, draft.code]
    )
    return own
