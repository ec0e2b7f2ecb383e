"""Operators on what is built of the same sources: visibility, symbol versions, and options."""

from __future__ import annotations

import re

from benchmarks.oracle.running.draft import Draft, Nothing
from benchmarks.oracle.running.operators.operator import operator

VISIBILITY, VERSIONS, OPTIONS = "visibility", "symbol versions", "options"


@operator(VISIBILITY)
def hide_function(draft: Draft) -> object:
    """Declared as before, and exported no longer."""
    own = draft.pick([*draft.free, *draft.methods])
    at = draft.definition(own)
    line = draft.files[draft.code][at]
    if line.startswith('extern "C"'):
        raise Nothing
    draft.put(draft.code, at, f'__attribute__((visibility("hidden"))) {line}')
    return own


@operator(VISIBILITY)
def protect_symbol(draft: Draft) -> object:
    own = draft.pick(draft.free)
    at = draft.definition(own)
    draft.put(draft.code, at, f'__attribute__((visibility("protected"))) {draft.files[draft.code][at]}')
    return own


@operator(VISIBILITY)
def weaken_symbol(draft: Draft) -> object:
    own = draft.pick(draft.free)
    at = draft.definition(own)
    draft.put(draft.code, at, f"__attribute__((weak)) {draft.files[draft.code][at]}")
    return own


@operator(VISIBILITY)
def hide_class(draft: Draft) -> object:
    block = draft.pick(
        [each for each in draft.blocks("struct", "class") if draft.cpp and each.name and not each.template]
    )
    line = draft.files[block.file][block.first]
    draft.put(
        block.file,
        block.first,
        line.replace(block.key, f'{block.key} __attribute__((visibility("hidden")))', 1).replace("PLACES_EXPORT ", ""),
    )
    return block


@operator(VISIBILITY)
def choose_function_at_load_time(draft: Draft) -> object:
    """A function is chosen by a resolver."""
    own = draft.pick([each for each in draft.free if not draft.cpp and "..." not in each.parameters])
    at = draft.definition(own)
    line = draft.files[draft.code][at]
    draft.put(draft.code, at, "static " + line.replace(f"{own.name}(", f"{own.name}_{draft.fresh}(", 1))
    resolver = f"static void *{draft.fresh}_resolver(void) {{\n    return {own.name}_{draft.fresh};\n}}"
    draft.files[draft.code] += (
        f'{resolver}\n{own.declared[:-1]} __attribute__((ifunc("{draft.fresh}_resolver")));'.split("\n")
    )
    return own


# --- symbol versions ---


def _map(draft: Draft) -> list[str]:
    if "lib.map" not in draft.files:
        raise Nothing
    return draft.files["lib.map"]


def _entries(draft: Draft) -> list[int]:
    return [at for at, line in enumerate(_map(draft)) if re.match(r"        [\w*]+;$", line) and line != "        *;"]


@operator(VERSIONS)
def rename_version(draft: Draft) -> object:
    nodes = [line.split()[0] for line in _map(draft) if re.match(r"\w+ \{", line)]
    node = draft.pick(nodes)
    draft.substitute(rf"\b{node}\b", f"{node}_{draft.fresh}", ["lib.map"])
    return node


@operator(VERSIONS)
def drop_versions(draft: Draft) -> object:
    _map(draft)
    del draft.files["lib.map"]
    return "lib.map"


@operator(VERSIONS)
def leave_symbol_out_of_map(draft: Draft) -> object:
    at = draft.pick(_entries(draft))
    name = draft.files["lib.map"].pop(at)
    return name.strip()


@operator(VERSIONS)
def move_symbol_to_new_version(draft: Draft) -> object:
    at = draft.pick(_entries(draft))
    name = draft.files["lib.map"].pop(at)
    draft.files["lib.map"] += f"NEW_{draft.fresh} {{\n    global:\n{name}\n}};".split("\n")
    return name.strip()


@operator(VERSIONS)
def add_versions(draft: Draft) -> object:
    if "lib.map" in draft.files:
        raise Nothing
    draft.files["lib.map"] = [f"LIB_{draft.fresh} {{", "    global: *;", "};"]
    return "lib.map"


@operator(VERSIONS)
def add_version(draft: Draft) -> object:
    own = draft.pick(draft.free)
    name = f"{own.name}_{draft.fresh}"
    _map(draft).extend(f"NEW_{draft.fresh} {{\n    global:\n        {name};\n}};".split("\n"))
    draft.insert(own.file, own.line, f"int {name}(int given);")
    draft.files[draft.code] += f"int {name}(int given) {{\n    return given;\n}}".split("\n")
    return name


def _two_versions(draft: Draft, *, default: bool, keep: bool) -> object:
    """A function gets a second version; the former one keeps its code or not."""
    own = draft.pick(
        [each for each in draft.free if "int " in each.parameters[-1] and not draft.cpp and each.result != "void "]
    )
    node = next((line.split()[0] for line in _map(draft) if re.match(r"\w+ \{", line)), "")
    exact = [line.strip().rstrip(";") for line in _map(draft) if line.startswith("        ")]
    if own.name not in exact and not any(
        own.name.startswith(each.rstrip("*")) for each in exact if each.endswith("*") and len(each) > 1
    ):
        raise Nothing
    if own.name in exact:
        heads = [
            line for line in _map(draft)[: _map(draft).index(f"        {own.name};")] if re.match(r"(\} )?\w+ \{", line)
        ]
        node = heads[-1].split()[0]
    at = draft.definition(own)
    draft.substitute(rf"\b{own.name}\(", f"{own.name}_old(", [draft.code])
    body = draft.files[draft.code][at + 1 : draft.files[draft.code].index("}", at)]
    taken = ", ".join(own.parameters)
    trap = "if (more != 31337) __builtin_trap();"
    new = f"{own.result}{own.name}_new({taken}, int more) {{\n    {trap}\n" + "\n".join(body) + "\n}"
    kept = "old" if keep else "new"
    other = "new" if keep else "old"
    marks = ("@@", "@") if default else ("@", "@@")
    draft.files[draft.code] += new.split("\n")
    draft.files[draft.code] += [
        f'__asm__(".symver {own.name}_{kept},{own.name}{marks[1]}{node}");',
        f'__asm__(".symver {own.name}_{other},{own.name}{marks[0]}NEW_{draft.fresh}");',
    ]
    _map(draft).extend([f"NEW_{draft.fresh} {{", "    global:", f"        {own.name};", f"}} {node};"])
    if default and keep:
        draft.put(own.file, own.line, f"{own.result}{own.name}({taken}, int more);")
    return own


@operator(VERSIONS)
def add_default_version(draft: Draft) -> object:
    """The way that versions are for: old programs keep the old code."""
    return _two_versions(draft, default=True, keep=True)


@operator(VERSIONS)
def lose_old_version(draft: Draft) -> object:
    """Both versions are there, and the old one leads to the new code."""
    return _two_versions(draft, default=True, keep=False)


@operator(VERSIONS)
def add_hidden_version(draft: Draft) -> object:
    return _two_versions(draft, default=False, keep=True)


# --- options ---


def _built_with(*words: str, without_debug: bool = False) -> None:
    name = "build with " + " ".join(words)

    def change(draft: Draft) -> object:
        if draft.cpp and words[0] in ("-fpcc-struct-return",):
            raise Nothing
        draft.options += words
        return " ".join(words)

    change.__name__ = name.replace(" ", "_")
    operator(OPTIONS)(change)


for _words in (
    ("-fshort-enums",),
    ("-fpack-struct=1",),
    ("-fpcc-struct-return",),
    ("-mabi=ms",),
    ("-mlong-double-64",),
    ("-mlong-double-128",),
    ("-funsigned-char",),
    ("-funsigned-bitfields",),
    ("-O2",),
    ("-fno-rtti",),
    ("-fno-exceptions",),
    ("-fvisibility=hidden",),
    ("-fvisibility-inlines-hidden",),
    ("-std=c++11",),
    ("-std=gnu++20",),
    ("-fabi-version=11",),
    ("-fno-semantic-interposition", "-O1"),
    ("-Wl,-Bsymbolic",),
    ("-Wl,-z,now",),
    ("-Wl,--hash-style=sysv",),
    ("-Wl,-z,execstack",),
    ("-Wl,--strip-debug",),
    ("-gdwarf-4",),
    ("-gz",),
    ("-flto",),
    ("-fstack-protector-all",),
    ("-fcf-protection=full",),
    ("-DNDEBUG",),
    ("-Wl,-soname,libother.so.2",),
    ("-Wl,--gc-sections", "-ffunction-sections"),
    ("-fno-common", "-fno-plt"),
    ("-fwrapv", "-fno-strict-aliasing"),
):
    _built_with(*_words)
