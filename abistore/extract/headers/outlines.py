"""What each given header is to the others: which it includes, and how much it declares."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from abistore.extract.headers.parsing import HeaderParser, ParsedHeaders
from abistore.extract.headers.walk.clang.inclusions import inclusions
from abistore.extract.headers.walk.declared import Walked
from abistore.model.declared import Declared
from abistore.model.snapshot import HeaderOutline, Variants


def outlines(parser: HeaderParser, parsed: ParsedHeaders, walked: Walked) -> tuple[HeaderOutline, ...]:
    """The outlines of the given headers, but of those without any fact."""
    texts = {each.name: _text(parser, each.path) for each in parser.given.headers}
    includes = inclusions([each.unit for each in parsed.units], parser.canonical, parser.given.name, texts)
    linked = _linked(walked)
    names = sorted(name for name in texts if name in includes or linked[name])
    return tuple(HeaderOutline(name, includes.get(name, ()), linked[name]) for name in names)


def _text(parser: HeaderParser, path: Path) -> str:
    edited = parser.invocation.edited.get(str(path))
    return edited if edited is not None else parser.texts.beginning_if_readable(path)


def _linked(walked: Walked) -> Counter[str]:
    """How many functions and variables each header declares that no macro or constant is."""
    return Counter(
        walked.locations[name].file
        for name, shapes in walked.entries.items()
        if name.kind in ("function", "variable") and name in walked.locations and _is_linked(shapes)
    )


def _is_linked(shapes: Variants) -> bool:
    declared = [each.traits for each in shapes if isinstance(each, Declared)]
    return bool(declared) and not any({"constant", "macro"}.intersection(traits) for traits in declared)
