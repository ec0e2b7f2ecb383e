"""Template parameters and constraints, compared by what they mean: what a parameter is called is nobody's business."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from abistore.model.declared import Argument, Declared

_NAMED: Final = r"(?s)(?P<introduced>.*[^\s.]|.*\.\.\.)\s+(?P<name>[A-Za-z_]\w*)"
_TOKENS: Final = r"(?s)&&|\|\||."
_ANGLES: Final = r"\s*([<>])\s*"
_NO_NAMES: Final = frozenset(
    {
        *("auto", "bool", "char", "class", "const", "double", "float", "int", "long", "short", "signed", "size_t"),
        *("typename", "unsigned", "void", "volatile"),
    }
)
"""What ends a parameter without a name."""


class TemplateParameter(msgspec.Struct, frozen=True):
    """A template parameter without its name: ``typename``, ``int``, ``Sortable...``, and its default argument."""

    introduced: str
    default: str | None


def template_parameters(declared: Declared) -> tuple[TemplateParameter, ...]:
    """The parameters of a template. Where a default mentions another parameter, it does so by its position."""
    named = [_split(each) for each in declared.template]
    names = [name for _, name in named]
    return tuple(
        TemplateParameter(_by_position(introduced, names), each.default and _by_position(each.default, names))
        for each, (introduced, _) in zip(declared.template, named, strict=True)
    )


def conjuncts(declared: Declared) -> frozenset[str]:
    """What a constraint asks for, each by itself: ``Sortable<#0>`` and ``sizeof(#0)<9``; nothing without one."""
    if declared.requires is None:
        return frozenset()
    text = _by_position(re.sub(_ANGLES, r"\1", declared.requires), [_split(each)[1] for each in declared.template])
    parts, depth = [""], 0
    for token in re.findall(_TOKENS, text):
        depth += (token in "([{") - (token in ")]}")
        if depth == 0 and token == "||":
            return frozenset({text})
        if depth == 0 and token == "&&":
            parts.append("")
        else:
            parts[-1] += token
    return frozenset(part.strip() for part in parts)


def _split(parameter: Argument) -> tuple[str, str]:
    """How a parameter is introduced, and its name; ``class`` and ``typename`` are one word."""
    match = re.fullmatch(_NAMED, parameter.name)
    introduced, name = (match["introduced"], match["name"]) if match else (parameter.name, "")
    if name in _NO_NAMES:
        introduced, name = parameter.name, ""
    return re.sub(r"\bclass\b", "typename", introduced), name


def _by_position(text: str, names: Sequence[str]) -> str:
    """``text`` with each of the ``names`` replaced by its number."""
    places = {name: f"#{place}" for place, name in enumerate(names) if name}
    return re.sub(r"[A-Za-z_]\w*", lambda match: places.get(match[0], match[0]), text) if places else text
