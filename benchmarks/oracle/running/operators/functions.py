"""Operators on functions: parameters, results, defaults, qualifiers, names and linkage."""

from __future__ import annotations

import re
from dataclasses import replace

from benchmarks.oracle.running.draft import Draft, Function, Nothing
from benchmarks.oracle.running.operators.classes import _reopened
from benchmarks.oracle.running.operators.operator import operator

PARAMETERS, RESULTS, DEFAULTS, QUALIFIERS, NAMES = "parameters", "results", "defaults", "qualifiers", "functions"
UPPER = "the upper half of a register is not specified, and often is what the wider type needs"
SAME = "both types go in the same register"


def _any(draft: Draft) -> list[Function]:
    return [each for each in (*draft.free, *draft.methods) if not each.special and "= 0" not in each.tail]


def _retyped(draft: Draft, pattern: str, *types: str) -> object:
    """Another type of a parameter whose declaration matches."""
    found = [(own, at) for own in _any(draft) for at, each in enumerate(own.parameters) if re.match(pattern, each)]
    own, at = draft.pick(found)
    name = re.search(r"(\w+)( = .*)?$", own.parameters[at])
    if not name or own.virtual:
        raise Nothing
    type = draft.random.choice(types)
    declared = f"{type}{'' if type.endswith(('*', '&')) else ' '}{name[1]}{name[2] or ''}"
    taken = (*own.parameters[:at], declared, *own.parameters[at + 1 :])
    draft.redefine(own, replace(own, parameters=taken))
    return f"{own} parameter {at}"


@operator(PARAMETERS)
def add_parameter(draft: Draft) -> object:
    own = draft.pick(_any(draft))
    if own.parameters[-1:] == ("...",):
        raise Nothing
    given = tuple(each for each in own.parameters if each != "void")
    draft.begin(own, f"if ({draft.fresh} != 31337) __builtin_trap();")
    draft.redefine(own, replace(own, parameters=(*given, f"int {draft.fresh}")))
    return own


@operator(PARAMETERS)
def add_parameter_with_default(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if draft.cpp and "..." not in each.parameters])
    draft.begin(own, f"if ({draft.fresh} != 31337) __builtin_trap();")
    draft.redefine(own, replace(own, parameters=(*own.parameters, f"int {draft.fresh} = 31337")))
    return own


@operator(PARAMETERS)
def remove_parameter(draft: Draft) -> object:
    """The body goes on with 1 for it."""
    own = draft.pick([each for each in _any(draft) if len(each.parameters) > 1 and "..." not in each.parameters])
    at = draft.random.randrange(len(own.parameters))
    found = re.match(
        r"((?:const )?(?:int|long|short|double|float|unsigned \w+|codec_size|size_t)) (\w+)", own.parameters[at]
    )
    if not found:
        raise Nothing
    draft.begin(own, f"{found[1]} {found[2]} = 1;")
    draft.redefine(own, replace(own, parameters=(*own.parameters[:at], *own.parameters[at + 1 :])))
    return f"{own} parameter {at}"


@operator(PARAMETERS)
def swap_parameters(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if len(each.parameters) > 1 and "..." not in each.parameters])
    one, other = draft.random.sample(range(len(own.parameters)), 2)
    taken = list(own.parameters)
    taken[one], taken[other] = taken[other], taken[one]
    draft.redefine(own, replace(own, parameters=tuple(taken)))
    return f"{own} parameters {one}, {other}"


@operator(PARAMETERS, unshown=UPPER)
def widen_parameter(draft: Draft) -> object:
    return _retyped(draft, r"(int|short|unsigned|int8_t|uint16_t) ", "long", "unsigned long")


@operator(PARAMETERS, unshown="a number of few bits is the same in the narrower type")
def narrow_parameter(draft: Draft) -> object:
    return _retyped(draft, r"(int|long|unsigned|size_t|int64_t) ", "short", "signed char")


@operator(PARAMETERS)
def take_floating_point(draft: Draft) -> object:
    return _retyped(draft, r"(int|long|unsigned|codec_size) ", "double", "float")


@operator(PARAMETERS)
def take_other_floating_point(draft: Draft) -> object:
    return _retyped(draft, r"(double|float|long double) ", "float", "long double", "int")


@operator(PARAMETERS)
def take_by_value(draft: Draft) -> object:
    """A pointer's or reference's object is taken by value."""
    found = [
        (own, at)
        for own in _any(draft)
        for at, each in enumerate(own.parameters)
        if re.match(r"(?:const )?(?:struct )?\w+ [*&]\w+$", each)
    ]
    own, at = draft.pick(found)
    told = re.match(r"(?:const )?((?:struct )?\w+) ([*&])(\w+)$", own.parameters[at])
    if not told or own.virtual or told[1] in ("char", "void"):
        raise Nothing
    if told[2] == "*":
        draft.begin(own, f"{told[1]} *{told[3]} = &{told[3]}value;")
    name = told[3] + ("value" if told[2] == "*" else "")
    draft.redefine(own, replace(own, parameters=(*own.parameters[:at], f"{told[1]} {name}", *own.parameters[at + 1 :])))
    return f"{own} parameter {at}"


@operator(PARAMETERS)
def take_by_reference(draft: Draft) -> object:
    """An object that was taken by value is taken by reference, or in C by pointer."""
    found = [
        (own, at)
        for own in _any(draft)
        for at, each in enumerate(own.parameters)
        if re.match(r"(struct \w+|[A-Z]\w+) \w+$", each)
    ]
    own, at = draft.pick(found)
    type, name = own.parameters[at].rsplit(" ", 1)
    if own.virtual:
        raise Nothing
    if draft.cpp:
        taken = f"const {type} &{name}"
    else:
        draft.begin(own, f"{type} {name} = *{name}given;")
        taken = f"const {type} *{name}given"
    draft.redefine(own, replace(own, parameters=(*own.parameters[:at], taken, *own.parameters[at + 1 :])))
    return f"{own} parameter {at}"


@operator(PARAMETERS)
def drop_const_of_pointer(draft: Draft) -> object:
    own, at = draft.pick(
        [
            (own, at)
            for own in _any(draft)
            for at, each in enumerate(own.parameters)
            if re.match(r"const .*[*&]\w+$", each)
        ]
    )
    taken = own.parameters[at].removeprefix("const ")
    draft.redefine(own, replace(own, parameters=(*own.parameters[:at], taken, *own.parameters[at + 1 :])))
    return f"{own} parameter {at}"


@operator(PARAMETERS)
def add_const_to_pointer(draft: Draft) -> object:
    own, at = draft.pick(
        [
            (own, at)
            for own in _any(draft)
            for at, each in enumerate(own.parameters)
            if re.match(r"(?!const ).*[*&]\w+$", each)
        ]
    )
    taken = f"const {own.parameters[at]}"
    draft.redefine(own, replace(own, parameters=(*own.parameters[:at], taken, *own.parameters[at + 1 :])))
    return f"{own} parameter {at}"


@operator(PARAMETERS)
def change_pointee(draft: Draft) -> object:
    """A pointer to something else goes in the same register."""
    return _retyped(draft, r"(?:const )?(?!void)[\w ]+ \*\w+$", "void *", "const void *", "unsigned char *")


@operator(PARAMETERS, unshown="callers of both pass fixed arguments in the same registers here")
def add_variable_arguments(draft: Draft) -> object:
    own = draft.pick([each for each in draft.free if each.parameters and "..." not in each.parameters])
    draft.redefine(own, replace(own, parameters=(*own.parameters, "...")))
    return own


@operator(PARAMETERS)
def rename_parameter(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if each.parameters and re.search(r"[ *&]\w+$", each.parameters[0])])
    taken = re.sub(r"\w+$", draft.fresh, own.parameters[0])
    draft.put(own.file, own.line, replace(own, parameters=(taken, *own.parameters[1:])).declared)
    return own


@operator(PARAMETERS)
def change_callback(draft: Draft) -> object:
    """A function pointer gets one argument more, which the library passes."""
    found = [
        (file, at)
        for file in draft.headers
        for at, line in enumerate(draft.files[file])
        if re.search(r"\(\*\w+\)\(", line)
    ]
    file, at = draft.pick(found)
    name = re.search(r"\(\*(\w+)\)\(", draft.files[file][at])
    if not name:
        raise Nothing
    line = draft.files[file][at]
    draft.put(file, at, re.sub(r"(\(\*\w+\)\()", rf"\1int {draft.fresh}, ", line, count=1).replace(", void)", ")"))
    draft.substitute(rf"\(\*{name[1]}\)\((?!int z)", f"(*{name[1]})(int {draft.fresh}, ", [draft.code])
    draft.substitute(
        rf"(?<=[ >.=]){name[1].rsplit('_')[-1]}\((?=[a-z&])(?!struct)", f"{name[1].rsplit('_')[-1]}(1, ", [draft.code]
    )
    return name[1]


# --- results ---


def _returning(draft: Draft, pattern: str, *results: str, wrap: str = "") -> object:
    own = draft.pick([each for each in _any(draft) if re.match(pattern, each.result) and not each.virtual])
    draft.redefine(own, replace(own, result=draft.random.choice(results)))
    return own


@operator(RESULTS, unshown=UPPER)
def widen_result(draft: Draft) -> object:
    return _returning(draft, r"int $", "long ")


@operator(RESULTS, unshown="a number of few bits is the same in the narrower type")
def narrow_result(draft: Draft) -> object:
    return _returning(draft, r"(int|long) $", "short ", "signed char ", "bool " if draft.cpp else "_Bool ")


@operator(RESULTS)
def return_floating_point(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if each.result in ("int ", "long ") and not each.virtual])
    type = draft.random.choice(("double", "float"))
    _end(draft, own, rf'{{ {type} given = \1; __asm__ volatile("movl $-77, %eax"); return given; }}')
    draft.redefine(own, replace(own, result=f"{type} "))
    return own


def _end(draft: Draft, own: Function, text: str) -> None:
    """Let a function end by other statements, in which ``\\1`` is what it returned."""
    start = draft.definition(own)
    lines = draft.files[draft.code]
    for at in range(start, lines.index("}", start)):
        lines[at] = re.sub(r"\breturn ([^;]+);", text, lines[at])


@operator(RESULTS)
def return_nothing(draft: Draft) -> object:
    own = draft.pick(
        [each for each in _any(draft) if each.result in ("int ", "long ", "double ", "bool ") and not each.virtual]
    )
    _end(draft, own, r'{ (void)(\1); __asm__ volatile("movl $-77, %eax"); return; }')
    draft.redefine(own, replace(own, result="void "))
    return own


@operator(RESULTS, unshown="programs that ignore a result run as before")
def return_something(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if each.result == "void " and not each.virtual])
    start = draft.definition(own)
    end = draft.files[draft.code].index("}", start)
    draft.insert(draft.code, end, "    return 5;")
    draft.redefine(own, replace(own, result="int "))
    return own


@operator(RESULTS)
def return_const_pointer(draft: Draft) -> object:
    own = draft.pick(
        [each for each in _any(draft) if re.match(r"(?!const )[\w ]+ [*&]$", each.result) and not each.virtual]
    )
    draft.redefine(own, replace(own, result=f"const {own.result}"))
    return own


@operator(RESULTS)
def drop_const_of_result(draft: Draft) -> object:
    own = draft.pick(
        [each for each in _any(draft) if re.match(r"const [\w ]+ [*&]$", each.result) and not each.virtual]
    )
    type = own.result.removeprefix("const ")
    if type.endswith("*"):
        _end(draft, own, rf"return ({type})(\1);")
    draft.redefine(own, replace(own, result=type))
    return own


@operator(RESULTS)
def return_by_pointer(draft: Draft) -> object:
    """A function that returned an object returns where one is."""
    own = draft.pick([each for each in _any(draft) if re.match(r"(struct \w+|[A-Z]\w+|codec_frame) $", each.result)])
    type = own.result.strip()
    made = f"static {type} *kept; kept = ({type} *)calloc(1, sizeof *kept);"
    _end(draft, own, rf"{made} *kept = \1; return kept;")
    draft.insert(draft.code, 1, "#include <stdlib.h>")
    draft.redefine(own, replace(own, result=f"{own.result}*"))
    return own


# --- default arguments ---


def _defaulted(draft: Draft) -> tuple[Function, int]:
    every = [each for each in (*draft.free, *draft.methods) if not each.virtual]
    return draft.pick([(own, at) for own in every for at, each in enumerate(own.parameters) if " = " in each])


@operator(DEFAULTS)
def change_default_argument(draft: Draft) -> object:
    own, at = _defaulted(draft)
    name, _, value = own.parameters[at].partition(" = ")
    other = {"true": "false", "Metre": "Foot", "Planets": "Planets + 1"}.get(
        value, str(int(value) + 1) if value.isdigit() else ""
    )
    taken = (*own.parameters[:at], f"{name} = {other}", *own.parameters[at + 1 :])
    draft.put(own.file, own.line, replace(own, parameters=taken).declared)
    return own


@operator(DEFAULTS)
def remove_default_argument(draft: Draft) -> object:
    own, at = _defaulted(draft)
    taken = tuple(each.partition(" = ")[0] if place == at else each for place, each in enumerate(own.parameters))
    draft.put(own.file, own.line, replace(own, parameters=taken).declared)
    return own


@operator(DEFAULTS)
def add_default_argument(draft: Draft) -> object:
    own = draft.pick(
        [
            each
            for each in _any(draft)
            if draft.cpp and each.parameters and re.match(r"(int|long|double) \w+$", each.parameters[-1])
        ]
    )
    draft.put(own.file, own.line, replace(own, parameters=(*own.parameters[:-1], f"{own.parameters[-1]} = 9")).declared)
    return own


@operator(DEFAULTS)
def split_default_into_overloads(draft: Draft) -> object:
    """The overload with the fewer parameters takes the place of the default, and calls the other."""
    own, at = _defaulted(draft)
    if at != len(own.parameters) - 1 or own.owner:
        raise Nothing
    value = own.parameters[at].partition(" = ")[2]
    given = [each.split()[-1].lstrip("*&") for each in own.parameters[:-1]]
    full = replace(own, parameters=(*own.parameters[:-1], own.parameters[at].partition(" = ")[0]))
    short = replace(own, parameters=own.parameters[:-1])
    body = f"    return {own.name}({', '.join([*given, value])});"
    draft.files[draft.code] += _reopened(draft, f"{short.declared[:-1]} {{\n{body}\n}}")
    draft.put(own.file, own.line, f"{full.declared}\n{short.declared}")
    return own


# --- qualifiers ---


def _requalified(draft: Draft, tail: str) -> object:
    own = draft.pick(
        [
            each
            for each in draft.methods
            if not each.special and not each.virtual and "static" not in each.head and tail not in each.tail
        ]
    )
    draft.redefine(own, replace(own, tail=f"{own.tail}{tail}"))
    return own


@operator(QUALIFIERS)
def make_method_const(draft: Draft) -> object:
    own = draft.pick(
        [each for each in draft.methods if not each.special and "static" not in each.head and " const" not in each.tail]
    )
    draft.redefine(own, replace(own, tail=f" const{own.tail}"))
    return own


@operator(QUALIFIERS)
def drop_const_of_method(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if " const" in each.tail])
    draft.redefine(own, replace(own, tail=own.tail.replace(" const", "", 1)))
    return own


@operator(QUALIFIERS)
def add_reference_qualifier(draft: Draft) -> object:
    return _requalified(draft, " &")


@operator(QUALIFIERS)
def add_noexcept(draft: Draft) -> object:
    own = draft.pick(
        [each for each in (*draft.free, *draft.methods) if draft.cpp and "noexcept" not in each.tail and not each.tail]
    )
    draft.redefine(own, replace(own, tail=" noexcept"))
    return own


@operator(QUALIFIERS)
def drop_noexcept(draft: Draft) -> object:
    own = draft.pick([each for each in (*draft.free, *draft.methods) if "noexcept" in each.tail])
    draft.redefine(own, replace(own, tail=re.sub(r" noexcept(\(\w+\))?", "", own.tail)))
    return own


@operator(QUALIFIERS)
def make_method_static(draft: Draft) -> object:
    own = draft.pick(
        [each for each in draft.methods if not each.special and not each.virtual and not each.head and not each.tail]
    )
    draft.put(own.file, own.line, replace(own, head="static ").declared)
    return own


@operator(QUALIFIERS)
def drop_static_of_method(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if each.head == "static "])
    draft.put(own.file, own.line, replace(own, head="").declared)
    return own


@operator(QUALIFIERS)
def hide_method(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if not each.special and each.access == "public"])
    draft.insert(own.file, own.line + 1, "public:")
    draft.insert(own.file, own.line, draft.random.choice(("private:", "protected:")))
    return own


@operator(QUALIFIERS)
def forbid_function(draft: Draft) -> object:
    """The function is exported as before, and compilers refuse callers, or warn of them."""
    own = draft.pick(_any(draft))
    word = draft.random.choice(('error("no longer")', "unavailable", "deprecated", "warn_unused_result"))
    line = draft.files[own.file][own.line]
    draft.put(own.file, own.line, f"{own.indent}__attribute__(({word})) {line.strip()}")
    return own


@operator(QUALIFIERS)
def delete_function(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if draft.cpp and not each.virtual and each.head != 'extern "C" '])
    draft.put(own.file, own.line, f"{own.declared[:-1]} = delete;")
    draft.undefine(own)
    return own


# --- functions as a whole ---


@operator(NAMES)
def remove_function(draft: Draft) -> object:
    own = draft.pick(_any(draft))
    draft.undefine(own)
    draft.put(own.file, own.line, None)
    return own


@operator(NAMES)
def undeclare_function(draft: Draft) -> object:
    """The library still exports it."""
    own = draft.pick(draft.free)
    at = draft.definition(own)
    draft.insert(draft.code, at, own.declared)
    draft.put(own.file, own.line, None)
    return own


@operator(NAMES)
def declare_without_definition(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if not each.virtual])
    draft.undefine(own)
    return own


@operator(NAMES)
def rename_function(draft: Draft) -> object:
    own = draft.pick([each for each in _any(draft) if not each.virtual])
    draft.redefine(own, replace(own, name=f"{own.name}_{draft.fresh}"))
    return own


@operator(NAMES)
def rename_function_with_macro(draft: Draft) -> object:
    """Sources compile as before; programs miss the former name."""
    own = draft.pick(draft.free)
    draft.redefine(own, replace(own, name=f"{own.name}_{draft.fresh}"))
    draft.insert(own.file, own.line + 1, f"#define {own.name} {own.name}_{draft.fresh}")
    return own


@operator(NAMES)
def rename_function_with_alias(draft: Draft) -> object:
    """The library exports both names, and headers declare the new one."""
    own = draft.pick([each for each in draft.free if not draft.cpp])
    new = replace(own, name=f"{own.name}_{draft.fresh}")
    draft.redefine(own, new)
    draft.files[draft.code].append(f'{replace(own, head="").declared[:-1]} __attribute__((alias("{new.name}")));')
    if "lib.map" in draft.files:
        draft.substitute(rf"\b{own.name};", f"{own.name};\n        {new.name};", ["lib.map"])
    return own


@operator(NAMES)
def rename_by_label(draft: Draft) -> object:
    """The header binds a name to another symbol."""
    own = draft.pick([each for each in draft.free if not draft.cpp])
    draft.put(own.file, own.line, f'{own.declared[:-1]} __asm__("{own.name}_{draft.fresh}");')
    return own


def _taken_body(draft: Draft, own: Function) -> str:
    """The statements of a function in one line; the library does not define it any more."""
    start = draft.definition(own)
    body = " ".join(
        line.strip() for line in draft.files[draft.code][start + 1 : draft.files[draft.code].index("}", start)]
    )
    if "//" in body:
        raise Nothing
    draft.undefine(own)
    return body


@operator(NAMES)
def inline_function(draft: Draft) -> object:
    """The body moves into the header, and the library exports the function no longer."""
    own = draft.pick([each for each in draft.free if each.head != 'extern "C" '])
    body = _taken_body(draft, own)
    draft.put(own.file, own.line, f"{'inline' if draft.cpp else 'static inline'} {own.declared[:-1]} {{ {body} }}")
    return own


@operator(NAMES)
def inline_method(draft: Draft) -> object:
    own = draft.pick([each for each in draft.methods if not each.special and not each.virtual])
    body = _taken_body(draft, own)
    draft.put(own.file, own.line, f"{own.declared[:-1]} {{ {body} }}")
    return own


@operator(NAMES)
def replace_function_by_macro(draft: Draft) -> object:
    own = draft.pick([each for each in draft.free if not draft.cpp and each.result == "int "])
    names = [each.split()[-1].lstrip("*") for each in own.parameters]
    draft.undefine(own)
    draft.put(own.file, own.line, f"#define {own.name}({', '.join(names)}) (0)")
    return own


@operator(NAMES)
def cover_function_by_macro(draft: Draft) -> object:
    """The function is exported as before, and sources compile another call."""
    own = draft.pick([each for each in draft.free if not draft.cpp and each.parameters != ("void",)])
    names = [each.split()[-1].lstrip("*") for each in own.parameters]
    given = ", ".join(names)
    draft.insert(own.file, own.line + 1, f"#define {own.name}({given}) ({own.name})({given})")
    return own


@operator(NAMES)
def add_function(draft: Draft) -> object:
    own = draft.pick(draft.free)
    draft.insert(own.file, own.line + 1, f"int {own.name}_{draft.fresh}(int given);")
    text = f"int {own.name}_{draft.fresh}(int given) {{\n    return given;\n}}"
    draft.files[draft.code] += _reopened(draft, text)
    return own


@operator(NAMES)
def add_overload(draft: Draft) -> object:
    """One more function of a name, which calls may mean now, or find as good as another."""
    own = draft.pick(
        [
            each
            for each in _any(draft)
            if draft.cpp and each.parameters and not each.virtual and each.head != 'extern "C" '
        ]
    )
    name = own.parameters[0].partition(" = ")[0].split()[-1].lstrip("*&")
    other = replace(
        own,
        parameters=(
            f"{draft.random.choice(('short', 'unsigned long', 'float', 'char', 'void *'))} {name}",
            *own.parameters[1:],
        ),
    )
    if other.head == "static ":
        raise Nothing
    draft.insert(
        own.file,
        own.line + 1,
        f"{other.declared[:-1]} {{ __builtin_trap(); }}".replace("    __", "__")
        if own.owner
        else f"inline {other.declared.replace('PLACES_EXPORT ', '')[:-1]} {{ __builtin_trap(); }}",
    )
    return own


@operator(NAMES, unshown="not every program calls the function of the C library")
def add_preloaded_name(draft: Draft) -> object:
    """A new export has the name of a function of the C library."""
    name, result, taken = "puts", "int", "const char *text"
    own = draft.pick(draft.free)
    linkage = 'extern "C" ' if draft.cpp else ""
    draft.files[draft.code].append(
        f"{linkage}{result} {name}({taken});\n{linkage}{result} {name}({taken}) {{\n    return 3;\n}}"
    )
    if "lib.map" in draft.files:
        draft.substitute(r"global:", f"global:\n        {name};", ["lib.map"])
    return f"{name} beside {own}"


@operator(NAMES)
def change_linkage(draft: Draft) -> object:
    """``extern "C"`` is dropped or added."""
    own = draft.pick([each for each in draft.free if draft.cpp])
    head = own.head.replace('extern "C" ', "") if 'extern "C"' in own.head else f'extern "C" {own.head}'
    at = draft.definition(own)
    line = draft.files[draft.code][at]
    draft.put(draft.code, at, line.removeprefix('extern "C" ') if 'extern "C"' in own.head else f'extern "C" {line}')
    draft.put(own.file, own.line, replace(own, head=head).declared)
    return own


@operator(NAMES)
def drop_linkage_block(draft: Draft) -> object:
    """A header for C no longer says to C++ that its functions are C's."""
    file = draft.pick([each for each in draft.headers if 'extern "C" {' in draft.files[each]])
    lines = draft.files[file]
    at = lines.index('extern "C" {')
    lines[at] = ""
    lines[len(lines) - 1 - lines[::-1].index("}")] = ""
    return file


@operator(NAMES)
def change_convention(draft: Draft) -> object:
    """A function is called by the rules of Windows."""
    own = draft.pick(draft.free)
    at = draft.definition(own)
    draft.put(own.file, own.line, f"__attribute__((ms_abi)) {own.declared}")
    draft.put(draft.code, at, draft.files[draft.code][at])
    return own
