"""The yes/no predicates of the judging and its kinds, and constants in their place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import unwrap
from pkgutil import walk_packages
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Final, Literal, TypeAlias, TypeVar

from abistore.diffing.context import load

JUDGING: Final = (
    "abistore.diffing.kinds",
    "abistore.diffing.surface",
    "abistore.diffing.types",
    "abistore.diffing.scopes",
)
"""The packages and modules whose predicates are special cases of the judging."""

ENGINE: Final = "abistore.diffing"
"""The package that compares; it imports some of its modules only when they are asked for."""

Sort: TypeAlias = Literal["predicate", "kind"]
Constant: TypeAlias = Literal["never", "always"]
Answers: TypeAlias = Mapping[str, str]
"""By name of a subject that ran, its answers: ``no``, ``yes``, ``no yes``, or none. A kind says yes with a finding."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Subject:
    """A predicate or a kind. ``function`` is what runs, without caches and properties around it."""

    sort: Sort
    name: str
    function: FunctionType

    @property
    def constants(self) -> tuple[Constant, ...]:
        """What can stand in its place."""
        return ("never", "always") if self.sort == "predicate" else ("never",)


@dataclass(frozen=True)
class Replacement:
    """A constant in the place of a subject."""

    subject: Subject
    constant: Constant

    @property
    def key(self) -> str:
        """Its name in stored trials."""
        return f"{self.subject.name} {self.constant}"

    def differs(self, answers: Answers) -> bool:
        """Whether the subject gave an answer that the constant does not give."""
        return ("yes" if self.constant == "never" else "no") in answers.get(self.subject.name, "")

    def put(self) -> None:
        """Replace the subject for the rest of this process."""
        code = _CODES[self.subject.sort, self.constant]
        self.subject.function.__code__ = code.replace(co_freevars=self.subject.function.__code__.co_freevars)


def _no(*_: object, **__: object) -> bool:
    return False


def _yes(*_: object, **__: object) -> bool:
    return True


def _nothing(*_: object, **__: object) -> Iterator[object]:
    return iter(())


_CODES: Final[Mapping[tuple[Sort, Constant], CodeType]] = {
    ("predicate", "never"): _no.__code__,
    ("predicate", "always"): _yes.__code__,
    ("kind", "never"): _nothing.__code__,
}


def import_engine() -> None:
    """Import all that a comparison may ask for, so that no forked process has to."""
    for _ in _modules([ENGINE]):
        pass


def predicates(packages: Iterable[str] = JUDGING) -> Iterator[Subject]:
    """Each function, method and property of these packages that is annotated ``-> bool``, but abstract ones."""
    for module in _modules(packages):
        for function in _functions(module):
            abstract = getattr(function, "__isabstractmethod__", False)
            if function.__annotations__.get("return") in ("bool", bool) and not abstract:
                yield Subject("predicate", f"{module.__name__}.{function.__qualname__}", function)


def kinds() -> Iterator[Subject]:
    """Each kind of change; its function is the check of its rule."""
    for kind, rule in load().items():
        assert isinstance(rule.check, FunctionType)
        yield Subject("kind", kind, rule.check)


def replacements(subjects: Iterable[Subject]) -> Iterator[Replacement]:
    """One constant after the other in the place of each subject."""
    return (Replacement(each, constant) for each in subjects for constant in each.constants)


def _modules(packages: Iterable[str]) -> Iterator[ModuleType]:
    for name in packages:
        package = import_module(name)
        yield package
        for found in walk_packages(getattr(package, "__path__", ()), f"{name}."):
            yield import_module(found.name)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """The functions that a module defines, and the methods of its classes."""
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else [value]
        for each in members:
            function = _bare(each)
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function


def _bare(member: object) -> object:
    """A function without what is wrapped around it."""
    match member:
        case property():
            return member.fget
        case cached_property():
            return member.func
        case staticmethod() | classmethod():
            return member.__func__
        case _ if callable(member) and not isinstance(member, type):
            return unwrap(member)
    return member


def traced(subjects: Iterable[Subject], work: Callable[[], Result]) -> tuple[Result, Answers]:
    """The result of some work, and what each subject answered that ran meanwhile.

    It sees only what runs in this thread, and nothing that a warm cache answers.
    """
    names = {id(each.function.__code__): each.name for each in subjects}
    answers: dict[str, set[str]] = {}

    def watch(frame: FrameType, event: str, value: object) -> None:
        if event == "return" and (name := names.get(id(frame.f_code))):
            seen = answers.setdefault(name, set())
            if value is not None:  # an exception, or the end of a generator
                seen.add("yes" if value else "no")

    sys.setprofile(watch)
    try:
        result = work()
    finally:
        sys.setprofile(None)
    return result, {name: " ".join(sorted(seen)) for name, seen in answers.items()}
