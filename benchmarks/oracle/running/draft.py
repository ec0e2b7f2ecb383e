"""The texts of a library, and a draft of them that operators change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, TypeVar

LIBRARIES: Final = Path(__file__).parent / "libraries"

T = TypeVar("T")

_BLOCK = re.compile(
    r"^(?P<before>(?:typedef |template <[^>]+(?:<[^>]*>)?> ?)*)(?P<key>struct|class|union|enum)\b(?P<words>[^(){};:]*)"
    r"(?P<bases>(?: : [^{};]*)?) ?\{$"
)
_FIELD = re.compile(
    r"^    (?!return|using|friend|virtual|static|typedef|extern|enum class|goto)"
    r"(?P<type>[\w:<>, *&]*[\w>*&]) ?(?<=[ *&])"
    r"(?P<name>\w+)(?P<count>(?:\[\w+\])*)(?P<bits> : \d+)?(?P<value> = [^;{]+)?;$"
)
_FUNCTION = re.compile(
    r"^(?P<indent>    )?(?!typedef|return|using|friend|else|#|extern template)"
    r"(?P<head>(?:virtual |static |explicit |inline |extern \"C\" |[A-Z]+_EXPORT )*)"
    r"(?P<result>(?:[\w:<>*& ]*[ *&])?)(?P<name>~?\w+|operator[^(]+)\((?P<parameters>[^{};]*)\)(?P<tail>[^;{()]*);$"
)
_ENUMERATOR = re.compile(r"^    (?P<name>\w+)(?: = (?P<value>[^,]+))?,?$")
_MACRO = re.compile(r"^#define (?P<name>\w+) (?P<value>[^\\]+)$")
_VARIABLE = re.compile(
    r"^(?P<head>(?:[A-Z]+_EXPORT )?extern )(?P<type>[\w *]*[\w*]) ?(?<=[ *])(?P<name>\w+)(?P<count>(?:\[\w+\])*);$"
)


class Nothing(Exception):
    """An operator finds nothing to change."""


@dataclass(frozen=True)
class Sources:
    """A library's files by their place, and the options that it is built with."""

    files: Mapping[str, str]
    options: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The same for the same texts and options."""
        text = "\0".join([*self.options, *(f"{name}\0{self.files[name]}" for name in sorted(self.files))])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def code(self) -> str:
        """The file that is compiled."""
        return "lib.c" if "lib.c" in self.files else "lib.cpp"

    @property
    def cpp(self) -> bool:
        """Whether the library is written in C++."""
        return self.code == "lib.cpp"


@dataclass(frozen=True)
class Block:
    """A class, union or enumeration: the lines from its head to its brace."""

    file: str
    first: int
    last: int
    key: str
    name: str
    bases: tuple[str, ...]
    template: bool

    def __str__(self) -> str:
        return f"{self.key} {self.name}"


@dataclass(frozen=True)
class Field:
    """A data member, and the line that declares it."""

    block: Block
    line: int
    type: str
    name: str
    count: str
    bits: str
    value: str
    access: str

    def __str__(self) -> str:
        return f"{self.block.name}::{self.name}"

    def written(self, *, type: str | None = None, name: str | None = None, count: str | None = None) -> str:
        """The line, with another type, name or count."""
        declared = spaced(type or self.type, name or self.name)
        return f"    {declared}{self.count if count is None else count}{self.bits}{self.value};"


@dataclass(frozen=True)
class Function:
    """A function's declaration in a header. ``result`` ends where the name begins."""

    file: str
    line: int
    owner: str
    indent: str
    head: str
    result: str
    name: str
    parameters: tuple[str, ...]
    tail: str
    access: str

    def __str__(self) -> str:
        return f"{self.owner}::{self.name}" if self.owner else self.name

    @property
    def declared(self) -> str:
        """The line of the header."""
        return f"{self.indent}{self.head}{self.result}{self.name}({', '.join(self.parameters)}){self.tail};"

    @property
    def virtual(self) -> bool:
        """Whether its line says that it is virtual."""
        return "virtual " in self.head or "override" in self.tail

    @property
    def special(self) -> bool:
        """Whether it is a constructor, destructor or operator."""
        return self.name.lstrip("~") == self.owner or self.name.startswith("operator")

    @property
    def defined(self) -> str:
        """What its definition says from the name on."""
        scope = f"{self.owner}::" if self.owner else ""
        taken = ", ".join(each.partition(" = ")[0] for each in self.parameters)
        tail = re.sub(r" (override|final|= 0|= default|= delete)", "", self.tail)
        return f"{scope}{self.name}({taken if taken != 'void' or self.owner else 'void'}){tail}"


@dataclass(frozen=True)
class Line:
    """A line of a file that says something by name: an enumerator, a macro or a variable."""

    file: str
    line: int
    name: str
    type: str = ""
    value: str = ""
    head: str = ""

    def __str__(self) -> str:
        return self.name


def spaced(type: str, name: str) -> str:
    """A declaration of a type and a name."""
    return f"{type}{'' if type.endswith(('*', '&')) else ' '}{name}"


class Draft:
    """Texts that an operator changes, at places that are drawn."""

    def __init__(self, sources: Sources, random: Random) -> None:
        self.random = random
        self.code, self.cpp = sources.code, sources.cpp
        self.options = list(sources.options)
        self.files = {name: text.splitlines() for name, text in sources.files.items()}
        self.fresh = f"z{random.randint(10, 99)}"

    @property
    def sources(self) -> Sources:
        """What the draft holds now."""
        return Sources({name: "\n".join(lines) + "\n" for name, lines in self.files.items()}, tuple(self.options))

    @property
    def headers(self) -> list[str]:
        """The public headers; the one of the most lines first."""
        return sorted(
            (each for each in self.files if each.startswith("include/")),
            key=lambda each: (-len(self.files[each]), each),
        )

    def pick(self, found: Sequence[T]) -> T:
        """One of them, drawn; raises :class:`Nothing` where there is none."""
        if not found:
            raise Nothing
        return self.random.choice(found)

    # --- what the headers declare ---

    def blocks(self, *keys: str, file: str | None = None) -> list[Block]:
        """The classes and enumerations of the headers, or of a file."""
        found = [block for each in ([file] if file else self.headers) for block in self._blocks(each)]
        return [each for each in found if not keys or each.key in keys]

    def _blocks(self, file: str) -> Iterator[Block]:
        lines = self.files[file]
        for first, line in enumerate(lines):
            if found := _BLOCK.match(line):
                last = next((at for at in range(first, len(lines)) if lines[at].startswith("}")), None)
                if last is None:
                    continue
                words = [
                    each for each in found["words"].split() if each not in ("class", "final") and "EXPORT" not in each
                ]
                named = words[-1] if words else lines[last].strip("}; ")
                bases = tuple(
                    each.split()[-1]
                    for each in found["bases"].lstrip(" :").split(", ")
                    if each and found["key"] != "enum"
                )
                yield Block(
                    file,
                    first,
                    last,
                    found["key"],
                    named,
                    bases,
                    "template" in found["before"] + "".join(lines[max(first - 1, 0) : first]),
                )

    @property
    def records(self) -> list[Block]:
        """Structs, classes and unions of the headers."""
        return self.blocks("struct", "class", "union")

    def fields(self, block: Block) -> list[Field]:
        """The data members of a class that have a line of their own."""
        found, access = [], "private" if block.key == "class" else "public"
        for at in range(block.first + 1, block.last):
            line = self.files[block.file][at]
            if line.rstrip(":") in ("public", "protected", "private"):
                access = line.rstrip(":")
            if told := _FIELD.match(line):
                words = (told["type"], told["name"], told["count"], told["bits"] or "", told["value"] or "")
                found.append(Field(block, at, *words, access))
        return found

    def field(self, *, bits: bool = False, public: bool = False) -> Field:
        """A data member, drawn."""
        every = [each for block in self.records for each in self.fields(block)]
        return self.pick(
            [each for each in every if bool(each.bits) == bits and (not public or each.access == "public")]
        )

    def functions(self, block: Block | None = None) -> list[Function]:
        """The functions that a class declares, or those outside of classes."""
        if block:
            return list(self._functions(block.file, range(block.first + 1, block.last), block))
        inside = {(each.file, at) for each in self.blocks() for at in range(each.first, each.last + 1)}
        return [
            each
            for file in self.headers
            for each in self._functions(
                file, [at for at in range(len(self.files[file])) if (file, at) not in inside], None
            )
        ]

    def _functions(self, file: str, places: Sequence[int], block: Block | None) -> Iterator[Function]:
        access = "private" if block and block.key == "class" else "public"
        for at in places:
            line = self.files[file][at]
            if line.rstrip(":") in ("public", "protected", "private"):
                access = line.rstrip(":")
            found = _FUNCTION.match(line)
            if not found or bool(found["indent"]) != bool(block) or "(*" in found["result"]:
                continue
            taken = tuple(_parted(found["parameters"]))
            words = (found["indent"] or "", found["head"], found["result"], found["name"])
            yield Function(file, at, block.name if block else "", *words, taken, found["tail"], access)

    @property
    def methods(self) -> list[Function]:
        """All functions that classes declare."""
        return [each for block in self.blocks("struct", "class") for each in self.functions(block)]

    @property
    def free(self) -> list[Function]:
        """All functions outside of classes."""
        return self.functions()

    def enumerators(self, block: Block) -> list[Line]:
        """The lines of an enumeration's values."""
        lines = enumerate(self.files[block.file][block.first + 1 : block.last], block.first + 1)
        found = ((at, _ENUMERATOR.match(line)) for at, line in lines)
        return [Line(block.file, at, told["name"], value=told["value"] or "") for at, told in found if told]

    @property
    def macros(self) -> list[Line]:
        """The object-like macros with a value."""
        return self._lines(_MACRO, self.headers)

    @property
    def variables(self) -> list[Line]:
        """The exported variables."""
        return self._lines(_VARIABLE, self.headers)

    def _lines(self, pattern: re.Pattern[str], files: Sequence[str]) -> list[Line]:
        found = []
        for file in files:
            for at, line in enumerate(self.files[file]):
                if told := pattern.match(line):
                    words = told.groupdict()
                    value = words.get("value") or words.get("count") or ""
                    found.append(Line(file, at, words["name"], words.get("type") or "", value, words.get("head") or ""))
        return found

    # --- changes ---

    def put(self, file: str, line: int, text: str | None) -> None:
        """Write another line in the place of one, or none."""
        self.files[file][line : line + 1] = [] if text is None else text.split("\n")

    def insert(self, file: str, line: int, text: str) -> None:
        """Write lines before one."""
        self.files[file][line:line] = text.split("\n")

    def swap(self, file: str, one: int, other: int) -> None:
        """Swap two lines."""
        lines = self.files[file]
        lines[one], lines[other] = lines[other], lines[one]

    def substitute(self, pattern: str, text: str, files: Sequence[str] | None = None) -> int:
        """Replace a pattern in all files, or in some; returns how often."""
        total = 0
        for file in files or list(self.files):
            replaced, count = re.subn(pattern, text, "\n".join(self.files[file]))
            self.files[file], total = replaced.split("\n"), total + count
        return total

    def definition(self, own: Function) -> int:
        """The line of the code that begins a function's definition; raises :class:`Nothing` where there is none."""
        found = [at for at, line in enumerate(self.files[self.code]) if _begins(line, own)]
        return self.pick(found[:1])

    def redefine(self, own: Function, new: Function) -> None:
        """Declare and define a function differently."""
        at = self.definition(own)
        line = self.files[self.code][at]
        said = (own.result + own.defined, new.result + new.defined)
        if said[0] not in line:
            said = (own.defined, new.defined)
            if own.result != new.result:
                raise Nothing
        self.files[self.code][at] = line.replace(*said)
        self.put(own.file, own.line, new.declared)

    def undefine(self, own: Function) -> None:
        """Take the definition of a function away."""
        at = self.definition(own)
        end = next(place for place in range(at, len(self.files[self.code])) if self.files[self.code][place] == "}")
        del self.files[self.code][at : end + 1]

    def begin(self, own: Function, text: str) -> None:
        """Let the body of a function begin with a line."""
        self.insert(self.code, self.definition(own) + 1, f"    {text}")

    def touch(self, owner: str, name: str, type: str = "int", condition: str = "") -> None:
        """Let the library write and read a member that a class got, where a condition of the preprocessor holds.

        What it reads tells nothing of objects that it wrote, or that are all zeros.
        """
        lines = self.files[self.code]
        for at in range(len(lines) - 1, -1, -1):
            found = re.match(r" +//@ (writes|reads|sees) (\w+) (.+)$", lines[at])
            if found and found[2] == owner:
                member = f"{found[3]}->{name}"
                told = f"{member} = ({type})1;"
                if found[1] != "writes":
                    told = f"sum += {member} == 0 || {member} == 1 ? 0 : 13;"
                lines[at + 1 : at + 1] = [condition, f"    {told}", "#endif"] if condition else [f"    {told}"]

    def forget(self, name: str) -> None:
        """Take away the lines of code that use a member. Raises :class:`Nothing` where one is a result."""
        uses = re.compile(rf"(->|\.)\s*{name}\b" if not self.cpp else rf"\b{name}\b")
        lines = self.files[self.code]
        gone = [at for at, line in enumerate(lines) if uses.search(line)]
        if any(not lines[at].startswith("    ") or "return" in lines[at] for at in gone):
            raise Nothing
        for at in reversed(gone):
            del lines[at]


def load(name: str) -> Sources:
    """A library of the folder beside this module."""
    folder = LIBRARIES / name
    paths = [*folder.glob("include/**/*.h"), *folder.glob("lib.*")]
    options = folder / "options"
    files = {str(path.relative_to(folder)): path.read_text() for path in sorted(paths)}
    return Sources(files, tuple(options.read_text().split()) if options.exists() else ())


def names() -> list[str]:
    """The libraries, sorted."""
    return sorted(path.name for path in LIBRARIES.iterdir() if path.is_dir())


def _begins(line: str, own: Function) -> bool:
    at = line.find(own.defined)
    return line.endswith("{") and at >= 0 and not line.startswith(" ") and (at == 0 or line[at - 1] in " *&")


def _parted(text: str) -> Iterator[str]:
    """The parameters of a list, parted at commas outside of brackets."""
    depth, begin = 0, 0
    for at, each in enumerate(text):
        depth += (each in "(<") - (each in ")>")
        if each == "," and not depth:
            yield text[begin:at].strip()
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:].strip()
