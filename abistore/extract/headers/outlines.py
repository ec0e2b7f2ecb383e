"""What each given header is to the others: which it includes, how much it declares, and a digest of its text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from abistore.extract.headers.parsing import HeaderParser, ParsedHeaders
from abistore.extract.headers.texts.unchanged import MOST_TEXT
from abistore.extract.headers.walk.clang.inclusions import Includes, behind, include_graph, inclusions
from abistore.extract.headers.walk.declared import Walked
from abistore.model.blake2 import blake2b
from abistore.model.declared import Declared
from abistore.model.snapshot import HeaderDigest, HeaderOutline, Variants


def outlines(
    parser: HeaderParser, parsed: ParsedHeaders, walked: Walked
) -> tuple[tuple[HeaderOutline, ...], tuple[HeaderDigest, ...]]:
    """The outlines of the given headers, but of those without any fact, and the texts of all own headers."""
    texts = {each.name: _text(parser, each.path) for each in parser.given.headers}
    graph = include_graph([each.unit for each in parsed.units], parser.canonical)
    includes = inclusions(graph, parser.given.name, texts)
    linked = _linked(walked)
    names = sorted(name for name in texts if name in includes or linked[name])
    found = tuple(HeaderOutline(name, includes.get(name, ()), linked[name]) for name in names)
    return found, _texts(parser, graph, texts)


def _texts(parser: HeaderParser, graph: Includes, texts: dict[str, str]) -> tuple[HeaderDigest, ...]:
    """The texts that are known whole."""
    given = {str(each.path): each.name for each in parser.given.headers}
    private = {path: behind(path, graph, given, parser.surrounds) for path in given}
    named = {path: name for path in frozenset[str]().union(*private.values()) if (name := parser.given.inside(path))}
    known = {**texts, **{name: _text(parser, Path(path)) for path, name in named.items()}}
    reached = {
        given[path]: tuple(sorted(named[each] for each in own if each in named)) for path, own in private.items()
    }
    return tuple(
        HeaderDigest(name, _digest(text), reached.get(name, ()))
        for name, text in sorted(known.items())
        if 0 < len(text) < MOST_TEXT
    )


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


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
