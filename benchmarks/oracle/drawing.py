"""Pieces drawn at random."""

from __future__ import annotations

from random import Random

from benchmarks.oracle.pieces import (
    PRIMITIVES,
    Base,
    Class,
    Enumeration,
    Field,
    Function,
    Language,
    Method,
    Piece,
    Variable,
)

ARGUMENTS = ("int", "char", "double")
"""What templates are instantiated with."""

LETTERS = "abcdefghij"


def drawn(prefix: str, language: Language, random: Random) -> Piece:
    """A piece; the same ``random`` gives the same one."""
    draw = _Drawing(prefix, language, random)
    for number in range(random.randint(0, 2)):
        draw.enumeration(number)
    for number in range(random.randint(1, 4)):
        draw.record(number)
    draw.exports()
    return draw.piece


class _Drawing:
    def __init__(self, prefix: str, language: Language, random: Random) -> None:
        self.piece = Piece(prefix, language)
        self._random = random
        self._cpp = language == "c++"

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _primitive(self) -> str:
        return self._random.choice(PRIMITIVES[self.piece.language])

    def _type(self, *, embeds: bool = True) -> str:
        """A type that was declared before; by value only where objects of it can be made."""
        which, piece = self._random.random(), self.piece
        if which < 0.55:
            return self._primitive()
        if which < 0.65 and piece.enumerations:
            return self._random.choice(piece.enumerations).name
        classes = [each for each in piece.classes if not each.template]
        if which < 0.8 and classes:
            return self._random.choice(classes).name + " *"
        whole = [each for each in classes if embeds and not each.opaque and not piece.is_abstract(each.name)]
        if which < 0.95 and whole:
            return self._random.choice(whole).name
        templates = [each for each in piece.classes if each.template]
        if templates:
            return self._instance(self._random.choice(templates))
        return self._primitive()

    def _instance(self, own: Class) -> str:
        return f"{own.name}<{self._random.choice(ARGUMENTS)}>" if own.template else own.name

    def enumeration(self, number: int) -> None:
        """An enumeration with values that mostly follow each other."""
        prefix, random, value = self.piece.prefix, self._random, 0
        values = []
        for letter in LETTERS[: random.randint(2, 5)]:
            values.append((f"{prefix}e{number}_{letter}x", value))
            value += random.choice([1, 1, 1, 2, 4])
        underlying = random.choice(["", "", "unsigned char", "long"]) if self._cpp else ""
        scoped = self._cpp and self._chance(0.3)
        self.piece.enumerations.append(Enumeration(f"{prefix}E{number}", values, underlying, scoped))

    def record(self, number: int) -> None:
        """A class of some kind, with members."""
        own = Class(f"{self.piece.prefix}S{number}")
        kind = self._random.random()
        own.opaque = kind < 0.08
        own.template = self._cpp and 0.08 <= kind < 0.18
        own.union = 0.18 <= kind < 0.24
        if self._cpp and own.is_plain and self._chance(0.5):
            self._derive(own)
        self._fields(own, number)
        if self._cpp and own.is_plain:
            self._methods(own, number)
        self.piece.classes.append(own)

    def _derive(self, own: Class) -> None:
        """One or two bases, none of which is met twice."""
        piece = self.piece
        bases = [each for each in piece.classes if each.is_plain and not each.final]
        for base in self._random.sample(bases, min(len(bases), self._random.choice([1, 1, 2]))):
            if all(piece.bases(base.name).isdisjoint(piece.bases(each.name)) for each in own.bases):
                own.bases.append(Base(base.name, self._chance(0.15)))

    def _fields(self, own: Class, number: int) -> None:
        guarded = self._cpp and own.is_plain and self._chance(0.4)
        for letter in LETTERS[: self._random.randint(1, 5)]:
            member = Field(f"{self.piece.prefix}m{number}{letter}", self._type())
            if own.template and self._chance(0.5):
                member.type = "T"
            if own.union and member.type not in PRIMITIVES["c++"] and not member.type.endswith("*"):
                member.type = "int"
            if self._chance(0.15):
                member.count = self._random.randint(1, 5)
            elif member.type in ("int", "unsigned", "long") and own.is_plain and self._chance(0.25):
                member.bits = self._random.randint(1, 12)
            if guarded and self._chance(0.6):
                member.access = self._random.choice(["private", "private", "protected"])
                plain = not member.count and not member.bits and member.type in PRIMITIVES["c++"]
                member.shown = plain and self._chance(0.3)
            own.members.append(member)

    def _methods(self, own: Class, number: int) -> None:
        polymorphic = self._chance(0.45)
        for letter in LETTERS[: self._random.randint(0, 3)]:
            taken = [self._type(embeds=False) for _ in range(self._random.randint(0, 2))]
            result = self._random.choice(["int", "void", "double", "long"])
            method = Method(f"{self.piece.prefix}f{number}{letter}", result, taken)
            method.virtual = polymorphic and self._chance(0.7)
            method.const = self._chance(0.3)
            method.pure = method.virtual and self._chance(0.2)
            if not method.virtual and self._chance(0.1):
                method.static, method.const = True, False
            if self._chance(0.1):
                method.access = "protected"
            own.members.append(method)
        if polymorphic and self._chance(0.4):
            own.destructor = self._random.randint(0, 3)
        else:
            own.destroys = self._chance(0.1)

    def exports(self) -> None:
        """Functions that take what was declared, and others."""
        piece, random = self.piece, self._random
        for number, own in enumerate(piece.classes):
            self._uses(own, number)
        for each in piece.enumerations:
            result = random.choice(["int", each.name])
            piece.functions.append(Function(f"{piece.prefix}en{each.name}", result, [each.name], self._chance(0.4)))
        if self._chance(0.4):
            count = random.choice([0, 0, 3, 8])
            piece.variables.append(
                Variable(f"{piece.prefix}var", random.choice(["int", "long", "double", "char"]), count)
            )
        for number in range(random.randint(0, 2)):
            taken = [self._type(embeds=False) for _ in range(random.randint(0, 3))]
            result = random.choice(["int", "double", "void"])
            c, internal = self._chance(0.4), self._chance(0.15)
            piece.functions.append(Function(f"{piece.prefix}fn{number}", result, taken, c, internal))

    def _uses(self, own: Class, number: int) -> None:
        piece, type = self.piece, self._instance(own)
        more = [self._primitive()] if self._chance(0.4) else []
        c = self._chance(0.3) and not own.template
        piece.functions.append(Function(f"{piece.prefix}use{number}", "int", [f"{type} *", *more], c))
        if own.opaque:
            piece.functions.append(Function(f"{piece.prefix}make{number}", f"{own.name} *", []))
        elif not piece.is_abstract(own.name) and self._chance(0.35):
            result = self._random.choice(["int", type])
            piece.functions.append(Function(f"{piece.prefix}val{number}", result, [type]))
