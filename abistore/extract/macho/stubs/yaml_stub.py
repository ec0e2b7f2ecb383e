"""Text stubs of versions 1 to 4, which are YAML: a document for each library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from abistore.extract.macho.stubs.document import (
    PLATFORMS,
    StubDocument,
    StubNames,
    StubSymbols,
    WrongStub,
    named,
    objc,
    tables,
    targets_of,
    version,
    word,
    words,
)

DEEPEST = 8


def read_yaml(text: str) -> Iterator[StubDocument]:
    """The libraries of a stub. Raises :class:`WrongStub`."""
    for tag, value in _documents(text):
        if not isinstance(value, Mapping):
            raise WrongStub("a document is no table")
        yield _fourth(value) if "targets" in value else _former(value, tag)


def _documents(text: str) -> Iterator[tuple[str, Any]]:
    """The documents as texts, lists and tables, with their tags. References within a text are refused."""
    import yaml  # not always needed

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stack: list[Any] = []
    keys: list[str | None] = []
    tag = ""

    def put(value: Any) -> None:
        if isinstance(stack[-1], list):
            stack[-1].append(value)
        elif keys[-1] is None:
            keys[-1] = value if isinstance(value, str) else ""
        else:
            stack[-1][keys[-1]] = value
            keys[-1] = None

    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.DocumentStartEvent):
                stack, keys, tag = [[]], [None], ""
            elif isinstance(event, yaml.AliasEvent):
                raise WrongStub("it has references within itself")
            elif isinstance(event, yaml.ScalarEvent):
                put(event.value)
            elif isinstance(event, yaml.CollectionStartEvent):
                tag = tag or event.tag or ""
                value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
                put(value)
                stack.append(value)
                keys.append(None)
                if len(stack) > DEEPEST:
                    raise WrongStub("it is nested too deeply")
            elif isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
                keys.pop()
            elif isinstance(event, yaml.DocumentEndEvent):
                yield from ((tag, each) for each in stack[0])
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise WrongStub(" ".join(str(error).split())[:200]) from error


def _fourth(held: Mapping[str, Any]) -> StubDocument:
    targets = words(held["targets"], "targets")
    symbols: list[StubSymbols] = []
    for part in ("exports", "reexports"):
        for each in tables(held.get(part), part):
            symbols += _symbols(each, targets_of(each), weak="weak-symbols")
    return StubDocument(
        name=word(held.get("install-name"), "install-name"),
        targets=targets,
        current=version(held["current-version"]) if "current-version" in held else None,
        compatibility=version(held.get("compatibility-version", "1.0")),
        flags=words(held.get("flags"), "flags"),
        reexports=tuple(named(held, "reexported-libraries", "libraries")),
        clients=(*named(held, "allowable-clients", "clients"), *named(held, "parent-umbrella", "umbrella")),
        symbols=tuple(symbols),
    )


def _symbols(
    each: Mapping[str, Any], targets: tuple[str, ...], *, weak: str, underscored: bool = False
) -> Iterator[StubSymbols]:
    yield StubSymbols(targets, words(each.get("symbols"), "symbols"))
    yield StubSymbols(targets, words(each.get(weak), weak), weak=True)
    yield StubSymbols(targets, words(each.get("thread-local-symbols"), "thread-local-symbols"), "thread_local")
    for sort in ("classes", "eh-types", "ivars"):
        yield objc(sort, targets, words(each.get(f"objc-{sort}"), f"objc-{sort}"), underscored=underscored)


def _former(held: Mapping[str, Any], tag: str) -> StubDocument:
    """Versions 1 to 3: a list of architectures, and one platform."""
    system = word(held.get("platform"), "platform")
    platform = PLATFORMS.get(system, system)
    underscored = not tag.endswith("v3")
    symbols: list[StubSymbols] = []
    reexports, clients = [], []
    for each in tables(held.get("exports"), "exports"):
        targets = tuple(f"{arch}-{platform}" for arch in words(each.get("archs"), "archs"))
        symbols += _symbols(each, targets, weak="weak-def-symbols", underscored=underscored)
        reexports.append(StubNames(targets, words(each.get("re-exports"), "re-exports")))
        for key in ("allowed-clients", "allowable-clients"):
            clients += [StubNames(targets, words(each.get(key), key))]
    umbrella = held.get("parent-umbrella")
    return StubDocument(
        name=word(held.get("install-name"), "install-name"),
        targets=tuple(f"{arch}-{platform}" for arch in words(held.get("archs"), "archs")),
        current=version(held["current-version"]) if "current-version" in held else None,
        compatibility=version(held.get("compatibility-version", "1.0")),
        flags=words(held.get("flags"), "flags"),
        reexports=tuple(reexports),
        clients=(*clients, *([StubNames((), (umbrella,))] if isinstance(umbrella, str) and umbrella else [])),
        symbols=tuple(symbols),
    )
