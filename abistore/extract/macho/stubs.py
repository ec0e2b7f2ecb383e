"""Text stubs (``.tbd``) of dylibs, which linkers read instead of the libraries: versions 1 to 5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from abistore.errors import ExtractError
from abistore.extract.files import InputFile, is_json_stub, is_stub
from abistore.extract.macho.symbols import DIRECTIVE, OWN, guessed_kind, plain_name
from abistore.extract.reader import ExtractOptions, FacetReading, identified, join, symbol_facet, unread
from abistore.model.declarations import SELF, Name, by_name
from abistore.model.shapes import AnyShape, Library, MachoLibrary, Symbol
from abistore.model.snapshot import Evidence, Snapshot, Target, Variants, sort_variants, usual_machine

Sort = Literal["function", "data", "thread_local", "unknown"]

PLATFORMS = {"macosx": "macos", "zippered": "macos", "iosmac": "maccatalyst", "macCatalyst": "maccatalyst"}
"""Platforms that earlier versions of the format call otherwise."""

_OBJC = {
    "classes": ("_OBJC_CLASS_$_", "_OBJC_METACLASS_$_"),
    "eh-types": ("_OBJC_EHTYPE_$_",),
    "ivars": ("_OBJC_IVAR_$_",),
}


class StubSymbols(msgspec.Struct, frozen=True):
    """Exports that are there for some targets; no ``targets`` are all of the library's."""

    targets: tuple[str, ...]
    names: tuple[str, ...]
    sort: Sort = "unknown"
    weak: bool = False


class StubNames(msgspec.Struct, frozen=True):
    """Libraries or clients that are named for some targets."""

    targets: tuple[str, ...]
    names: tuple[str, ...]


class StubDocument(msgspec.Struct, frozen=True):
    """One library. ``targets`` are ``arm64-macos`` and the like; ``minimum`` the oldest system of each."""

    name: str
    targets: tuple[str, ...]
    current: str | None = None
    compatibility: str = "1.0"
    flags: tuple[str, ...] = ()
    minimum: Mapping[str, str] = {}
    reexports: tuple[StubNames, ...] = ()
    clients: tuple[StubNames, ...] = ()
    symbols: tuple[StubSymbols, ...] = ()


class WrongStub(Exception):
    """The text is no stub. The reader names the file, and makes an error of it that users meet."""


def objc(sort: str, targets: tuple[str, ...], names: Iterable[str], *, underscored: bool = False) -> StubSymbols:
    """The symbols of Objective-C classes, or of their parts. The first versions wrote ``_Name``."""
    plain = [each.removeprefix("_") if underscored else each for each in names]
    return StubSymbols(targets, tuple(prefix + each for each in plain for prefix in _OBJC[sort]), "data")


def table(value: Any, what: str) -> Mapping[str, Any]:
    """A mapping. Raises :class:`WrongStub` for anything else."""
    if not isinstance(value, Mapping):
        raise WrongStub(f"{what} is not a table")
    return value


def tables(value: Any, what: str) -> Iterator[Mapping[str, Any]]:
    """A list of mappings; nothing where there is none."""
    for each in items(value, what):
        yield table(each, what)


def items(value: Any, what: str) -> Sequence[Any]:
    """A list; empty where there is none."""
    if value is None or value == "":
        return ()
    if not isinstance(value, list):
        raise WrongStub(f"{what} is not a list")
    return value


def words(value: Any, what: str) -> tuple[str, ...]:
    """A list of texts; empty where there is none."""
    found = items(value, what)
    if not all(isinstance(each, str) for each in found):
        raise WrongStub(f"{what} holds something else than names")
    return tuple(found)


def word(value: Any, what: str) -> str:
    """A text."""
    if not isinstance(value, str) or not value:
        raise WrongStub(f"{what} is missing")
    return value


def version(value: Any) -> str:
    """``1.0`` for ``1``, and ``1.2`` for ``1.2.0``: as load commands are spelled."""
    parts = str(value).split(".")
    padded = [*parts, "0"] if len(parts) == 1 else parts
    return ".".join(padded[:-1] if len(padded) == 3 and padded[2] == "0" else padded)


def targets_of(each: Mapping[str, Any]) -> tuple[str, ...]:
    """The targets that a table is for; none where it is for all."""
    return words(each.get("targets"), "targets")


def named(held: Mapping[str, Any], part: str, key: str) -> Iterator[StubNames]:
    """What each table of the list ``part`` names with ``key``, one name or several, and for which targets."""
    for each in tables(held.get(part), part):
        value = each.get(key)
        yield StubNames(targets_of(each), (value,) if isinstance(value, str) and value else words(value, key))


_JSON_OBJC = {"objc_class": "classes", "objc_eh_type": "eh-types", "objc_ivar": "ivars"}


def read_json(data: bytes) -> Iterator[StubDocument]:
    """The libraries of a stub: the main one, and those that are inlined. Raises :class:`WrongStub`."""
    try:
        held = table(msgspec.json.decode(data), "the file")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise WrongStub(f"not JSON: {error}") from error
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
        symbols=tuple(_json_symbols(held)),
    )


def _first(held: Mapping[str, Any], part: str, key: str) -> str | None:
    found = next(tables(held.get(part), part), None)
    return word(found.get(key), key) if found is not None else None


def _json_symbols(held: Mapping[str, Any]) -> Iterator[StubSymbols]:
    segments: tuple[tuple[str, Sort], ...] = (("text", "function"), ("data", "data"))
    for part in ("exported_symbols", "reexported_symbols"):
        for each in tables(held.get(part), part):
            targets = targets_of(each)
            for segment, sort in segments:
                names = table(each.get(segment) or {}, segment)
                yield StubSymbols(targets, words(names.get("global"), "global"), sort)
                yield StubSymbols(targets, words(names.get("weak"), "weak"), sort, weak=True)
                yield StubSymbols(targets, words(names.get("thread_local"), "thread_local"), "thread_local")
                for key, part_of_class in _JSON_OBJC.items():
                    yield objc(part_of_class, targets, words(names.get(key), key))


DEEPEST = 8


def read_yaml(text: str) -> Iterator[StubDocument]:
    """The libraries of a stub. Raises :class:`WrongStub`."""
    for tag, value in _documents(text):
        if not isinstance(value, Mapping):
            raise WrongStub("a document is not a table")
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


MOST_TARGETS = 64
_NARROW = ("i386", "armv", "arm64_32")
_HINT = "pass the dylib with its .dSYM, or name the public headers with --header"


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a text stub."""
    return is_stub(head)


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of each target. Raises :class:`ExtractError` where the text is no stub."""
    file.check_size(options.max_bytes)
    data = file.read_at(0, file.size)
    try:
        documents = list(read_json(data) if is_json_stub(file.head) else read_yaml(data.decode("utf-8", "replace")))
        if not documents:
            raise WrongStub("it names no library")
        inlined = {each.name: each for each in documents[1:]}
        parts = {name for each in documents for one in each.reexports for name in one.names}
        for each in (documents[0], *(one for one in documents[1:] if one.name not in parts)):
            if len(each.targets) > MOST_TARGETS or not each.targets:
                raise WrongStub(f"{each.name} is for {len(each.targets)} targets")
            for target in dict.fromkeys(each.targets):
                yield _snapshot(file, options, target, [each, *_parts_of(each, target, inlined)])
    except WrongStub as error:
        raise ExtractError(f"{file.path}: not a readable text stub: {error}", "make it again with tapi") from error


def _parts_of(document: StubDocument, target: str, inlined: dict[str, StubDocument]) -> Iterator[StubDocument]:
    """The libraries of the file that a library re-exports, directly or through others: linkers see one library."""
    pending, seen = list(_of(document.reexports, target)), {document.name}
    while pending:
        name = pending.pop()
        if name not in seen and name in inlined:
            seen.add(name)
            yield inlined[name]
            pending.extend(_of(inlined[name].reexports, target))


def _of(named: Iterable[StubNames], target: str) -> list[str]:
    """The names that hold for ``target``, sorted."""
    return sorted({name for each in named if not each.targets or target in each.targets for name in each.names})


def _snapshot(file: InputFile, options: ExtractOptions, target: str, documents: Sequence[StubDocument]) -> Snapshot:
    main, entries = documents[0], _exports(documents, target)
    count = len(entries)
    entries[SELF] = (_library(documents, target),)
    binary = unread(file, options, main.name, _target(target), reader="tbd", product_version=main.current)
    readings = [symbol_facet(entries, count)]
    if options.layout:
        detail = "a text stub names symbols, and no types"
        readings.append(FacetReading(Evidence("layout", "missing", "no-debug-info", detail, _HINT, "", 0, count)))
    return identified(join(binary, readings), file, options)


def _exports(documents: Iterable[StubDocument], target: str) -> dict[Name, Variants]:
    gathered: dict[Name, set[AnyShape]] = {}
    held = (each for document in documents for each in document.symbols if not each.targets or target in each.targets)
    for each in held:
        for symbol in each.names:
            name = plain_name(symbol)
            if name and name not in OWN and not DIRECTIVE.match(symbol):
                kind = guessed_kind(name) if each.sort == "unknown" else _KINDS[each.sort]
                gathered.setdefault(Name(kind, name), set()).add(Symbol(each.sort, each.weak))
    return {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}


_KINDS: dict[str, Literal["function", "variable"]] = {
    "function": "function",
    "data": "variable",
    "thread_local": "variable",
}


def _directives(documents: Iterable[StubDocument], target: str) -> set[str]:
    held = (each for document in documents for each in document.symbols if not each.targets or target in each.targets)
    return {name for each in held for name in each.names if DIRECTIVE.match(name)}


def _library(documents: Sequence[StubDocument], target: str) -> Library:
    document, own = documents[0], {each.name for each in documents}
    return Library(
        file_kind="shared",
        name=document.name,
        compatibility_version=document.compatibility,
        features=tuple(sorted(_features(document))),
        macho=MachoLibrary(
            minimum_os=document.minimum.get(target),
            reexports=tuple(each for each in _of(document.reexports, target) if each not in own),
            clients=tuple(_of(document.clients, target)),
            stub=True,
            directives=tuple(sorted(_directives(documents, target))),
        ),
    )


def _features(document: StubDocument) -> Iterator[str]:
    if {"flat_namespace"} & set(document.flags):
        yield "flat namespace"
    if not {"not_app_extension_safe"} & set(document.flags):
        yield "app extensions"


def _target(target: str) -> Target:
    """The platform of ``arm64-ios-simulator``."""
    arch, _, platform = target.partition("-")
    machine = "aarch64-ilp32" if arch == "arm64_32" else usual_machine(arch)
    bits: Literal[32, 64] = 32 if arch.startswith(_NARROW) else 64
    return Target("macho", machine, bits, "little", PLATFORMS.get(platform, platform) or "macos")
