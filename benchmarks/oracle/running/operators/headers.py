"""Operators on headers as files: moved, split, included, and conditions in them."""

from __future__ import annotations

import re

from benchmarks.oracle.running.draft import Draft, Nothing
from benchmarks.oracle.running.operators.operator import operator

MOVED, CONDITIONS = "headers moved", "conditions"


@operator(MOVED)
def rename_header(draft: Draft) -> object:
    """Another name, with a header of the old name that includes it, or none."""
    file = draft.headers[0]
    name = file.removeprefix("include/")
    new = name.replace(".h", f"_{draft.fresh}.h")
    draft.files[f"include/{new}"] = draft.files.pop(file)
    draft.substitute(rf'#include "{name}"', f'#include "{new}"', [draft.code])
    if draft.random.random() < 0.5:
        draft.files[file] = [f'#include "{new}"']
    return name


@operator(MOVED)
def move_header_into_folder(draft: Draft) -> object:
    file = draft.headers[0]
    name = file.removeprefix("include/")
    if len(draft.headers) > 1:
        raise Nothing
    draft.files[f"include/{draft.fresh}/{name}"] = draft.files.pop(file)
    draft.substitute(rf'#include "{name}"', f'#include "{draft.fresh}/{name}"', [draft.code])
    return name


@operator(MOVED)
def split_header(draft: Draft) -> object:
    """Declarations move into a header that the former one includes, or no longer does."""
    own = draft.pick(draft.free)
    other = f"include/{draft.fresh}.h"
    included = draft.random.random() < 0.5
    text = own.declared
    if draft.cpp and (space := _space(draft, own.file, own.line)):
        text = f"namespace {space} {{\n{text}\n}}"
    types = sorted({each.file.removeprefix("include/") for each in draft.records})
    head = [] if included else [f'#include "{each}"' for each in types]
    draft.files[other] = ["#pragma once", *head, *text.split("\n")]
    draft.put(own.file, own.line, None)
    if included:
        places = [at for at, line in enumerate(draft.files[own.file]) if line == "#endif"]
        at = places[-1] if places and draft.files[own.file][0].startswith("#ifndef") else len(draft.files[own.file])
        draft.insert(own.file, at, f'#include "{draft.fresh}.h"')
    else:
        draft.insert(draft.code, 1, f'#include "{draft.fresh}.h"')
    return own


def _space(draft: Draft, file: str, line: int) -> str:
    found = [told[1] for each in draft.files[file][:line] if (told := re.match(r"namespace (\w+) \{", each))]
    return found[0] if len(found) == 1 else ""


@operator(MOVED)
def move_type_into_header(draft: Draft) -> object:
    block = draft.pick([each for each in draft.records if each.name and not draft.cpp])
    text = draft.files[block.file][block.first : block.last + 1]
    draft.files[block.file][block.first : block.last + 1] = [f'#include "{draft.fresh}.h"']
    draft.files[f"include/{draft.fresh}.h"] = ["#pragma once", *text]
    return block


@operator(MOVED)
def drop_include(draft: Draft) -> object:
    places = [
        (file, at)
        for file in draft.headers
        for at, line in enumerate(draft.files[file])
        if line.startswith("#include <")
    ]
    file, at = draft.pick(places)
    line = draft.files[file][at]
    draft.put(file, at, None)
    draft.insert(draft.code, 0, line)
    draft.substitute(r"\buint32_t\b", "unsigned int", draft.headers)
    draft.substitute(r"\buint16_t\b", "unsigned short", draft.headers)
    draft.substitute(r"\bu?int8_t\b", "signed char", draft.headers)
    draft.substitute(r"\bsize_t\b", "unsigned long", draft.headers)
    return line


@operator(MOVED)
def add_include(draft: Draft) -> object:
    file = draft.headers[0]
    at = next(at for at, line in enumerate(draft.files[file]) if line.startswith(("#define", "#pragma")))
    draft.insert(file, at + 1, f"#include <{draft.random.choice(('stddef.h', 'limits.h', 'stdint.h', 'time.h'))}>")
    return file


@operator(MOVED)
def rename_guard(draft: Draft) -> object:
    file = draft.headers[0]
    if not draft.files[file][0].startswith("#ifndef"):
        raise Nothing
    name = draft.files[file][0].split()[1]
    draft.substitute(rf"\b{name}\b", f"{name}_{draft.fresh}", [file])
    return name


@operator(MOVED)
def demand_other_header(draft: Draft) -> object:
    """The header refuses to be included before another."""
    draft.files[f"include/{draft.fresh}.h"] = [f"#define HAVE_{draft.fresh}"]
    draft.insert(draft.headers[0], 0, f"#ifndef HAVE_{draft.fresh}\n#error include {draft.fresh}.h first\n#endif")
    draft.insert(draft.code, 0, f'#include "{draft.fresh}.h"')
    return draft.fresh


@operator(MOVED)
def comment_header(draft: Draft) -> object:
    file = draft.headers[0]
    draft.insert(file, draft.random.randrange(len(draft.files[file])), "/* nothing that programs see */")
    return file


# --- conditions ---

_CONDITIONS = (
    "#ifdef NEVER_DEFINED",
    "#ifndef NEVER_DEFINED",
    "#ifdef __cplusplus",
    "#ifndef __cplusplus",
    "#ifdef NDEBUG",
    "#ifndef NDEBUG",
    "#ifdef __OPTIMIZE__",
    "#ifndef __OPTIMIZE__",
    "#ifdef BUILDS_LIBRARY",
    "#ifndef BUILDS_LIBRARY",
    "#if defined(_GNU_SOURCE)",
    "#if __GNUC__ < 5",
    "#ifdef __clang__",
    "#if __SIZEOF_POINTER__ == 8",
)
"""Which of these hold depends on who compiles: the library, a program, or a reader of headers."""


def _under(draft: Draft, file: str, first: int, last: int) -> str:
    condition = draft.random.choice(_CONDITIONS)
    draft.insert(file, last + 1, "#endif")
    draft.insert(file, first, condition)
    if "BUILDS_LIBRARY" in condition:
        draft.insert(draft.code, 0, "#define BUILDS_LIBRARY")
    return condition


@operator(CONDITIONS)
def declare_function_under_condition(draft: Draft) -> object:
    own = draft.pick([*draft.free, *draft.methods])
    return f"{own} {_under(draft, own.file, own.line, own.line)}"


@operator(CONDITIONS)
def add_field_under_condition(draft: Draft) -> object:
    block = draft.pick([each for each in draft.records if draft.fields(each)])
    line = draft.pick(draft.fields(block)).line
    draft.insert(block.file, line, f"    int {draft.fresh};")
    condition = _under(draft, block.file, line, line)
    draft.touch(block.name, draft.fresh, condition=condition)
    return f"{block} {condition}"


@operator(CONDITIONS)
def put_field_under_condition(draft: Draft) -> object:
    found = draft.field()
    return f"{found} {_under(draft, found.block.file, found.line, found.line)}"


@operator(CONDITIONS)
def add_virtual_under_condition(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if each.virtual])
    draft.insert(own.file, own.line, f"    virtual int {draft.fresh}v() {{ return 1; }}")
    return f"{own} {_under(draft, own.file, own.line, own.line)}"


@operator(CONDITIONS)
def declare_macro_under_condition(draft: Draft) -> object:
    found = draft.pick([each for each in draft.macros if "__attribute__" not in each.value])
    return f"{found} {_under(draft, found.file, found.line, found.line)}"


@operator(CONDITIONS)
def put_enumerator_under_condition(draft: Draft) -> object:
    block = draft.pick([each for each in draft.blocks("enum") if draft.enumerators(each)])
    found = draft.pick(draft.enumerators(block))
    return f"{found} {_under(draft, block.file, found.line, found.line)}"


@operator(CONDITIONS)
def pack_under_condition(draft: Draft) -> object:
    block = draft.pick([each for each in draft.records if each.name and draft.fields(each)])
    draft.insert(block.file, block.last + 1, "#pragma pack(pop)")
    _under(draft, block.file, block.last + 1, block.last + 1)
    line = draft.files[block.file][block.last + 1]
    draft.insert(block.file, block.first, f"{line}\n#pragma pack(push, 1)\n#endif")
    return f"{block} {line}"
