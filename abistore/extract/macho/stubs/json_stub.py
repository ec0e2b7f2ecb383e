"""Text stubs of version 5, which are JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from abistore.extract.macho.stubs.document import (
    Sort,
    StubDocument,
    StubSymbols,
    WrongStub,
    named,
    objc,
    table,
    tables,
    targets_of,
    version,
    word,
    words,
)

_OBJC = {"objc_class": "classes", "objc_eh_type": "eh-types", "objc_ivar": "ivars"}


def read_json(data: bytes) -> Iterator[StubDocument]:
    """The libraries of a stub: the main one, and those that are inlined. Raises :class:`WrongStub`."""
    try:
        held = table(msgspec.json.decode(data), "the file")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise WrongStub(f"it is no JSON: {error}") from error
    main = table(held.get("main_library"), "main_library")
    yield _document(main)
    for each in tables(held.get("libraries"), "libraries"):
        yield _document({"target_info": main.get("target_info"), **each})


def _document(held: Mapping[str, Any]) -> StubDocument:
    infos = list(tables(held.get("target_info"), "target_info"))
    targets = tuple(word(each.get("target"), "target") for each in infos)
    current = _first(held, "current_versions", "version")
    minimum = {
        target: version(each["min_deployment"])
        for target, each in zip(targets, infos, strict=True)
        if isinstance(each.get("min_deployment"), str)
    }
    return StubDocument(
        name=word(_first(held, "install_names", "name"), "install_names"),
        targets=targets,
        current=version(current) if current else None,
        compatibility=version(_first(held, "compatibility_versions", "version") or "1.0"),
        flags=tuple(
            flag for each in tables(held.get("flags"), "flags") for flag in words(each.get("attributes"), "flags")
        ),
        minimum=minimum,
        reexports=tuple(named(held, "reexported_libraries", "names")),
        clients=(*named(held, "allowable_clients", "clients"), *named(held, "parent_umbrellas", "umbrella")),
        symbols=tuple(_symbols(held)),
    )


def _first(held: Mapping[str, Any], part: str, key: str) -> str | None:
    found = next(tables(held.get(part), part), None)
    return word(found.get(key), key) if found is not None else None


def _symbols(held: Mapping[str, Any]) -> Iterator[StubSymbols]:
    segments: tuple[tuple[str, Sort], ...] = (("text", "function"), ("data", "data"))
    for part in ("exported_symbols", "reexported_symbols"):
        for each in tables(held.get(part), part):
            targets = targets_of(each)
            for segment, sort in segments:
                names = table(each.get(segment) or {}, segment)
                yield StubSymbols(targets, words(names.get("global"), "global"), sort)
                yield StubSymbols(targets, words(names.get("weak"), "weak"), sort, weak=True)
                yield StubSymbols(targets, words(names.get("thread_local"), "thread_local"), "thread_local")
                for key, part_of_class in _OBJC.items():
                    yield objc(part_of_class, targets, words(names.get(key), key))
