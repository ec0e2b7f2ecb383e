"""Keep what programs may rely on today: ``python -m tests.promises.kept``, at each release.

The files only grow: it refuses to write where something is missing or changed. Before the first release ``--replace``
writes them all the same. Files of snapshots and bundles are written once for each format.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from inspect import Parameter, isfunction, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click
import msgspec

import abistore
from abistore.cli.main import cli
from abistore.cli.verbs import answer_types, declared
from abistore.diffing.policy_documents import PolicyDocument
from abistore.diffing.suppression_files import SuppressionDocument
from abistore.errors import AbistoreError
from abistore.model.envelope import VERSION
from abistore.model.findings import Verdict
from abistore.model.labels import Given
from abistore.model.snapshot_files import FORMAT_VERSION, to_json
from abistore.report.plain import answers_schema
from abistore.service.approval_files import ApprovalDocument
from abistore.service.project import ConfigurationFile
from abistore.store.bundle_files import FORMAT as BUNDLE_FORMAT
from abistore.store.store import Store
from tests.diffing.test_every_fact import FACETS, snapshot
from tests.promises.additive import breaches, stripped
from tests.store.schemas.build import fill

FOLDER = Path(__file__).parent
MCP = FOLDER.parent / "mcp" / "surface.json"
"""What the server offers, which tests/mcp/test_surface.py compares with what it says."""

SNAPSHOT = FOLDER / f"snapshot-{FORMAT_VERSION}.json"
BUNDLE = FOLDER / f"bundle-{BUNDLE_FORMAT}.bundle"


class Promise(NamedTuple):
    """What programs rely on: today's, and how to find what a kept one has and today's has not."""

    today: Callable[[], Any]
    broken: Callable[[Any, Any], list[str]]


def commands() -> dict[str, Any]:
    """Every verb by its words, with its arguments and options; the program's own options are those of ``""``."""
    own = {"": _parameters(cli.params)}
    return own | {" ".join(words): _parameters(each.params) for words, each in declared(cli)}


def _parameters(parameters: list[click.Parameter]) -> dict[str, Any]:
    arguments = [each for each in parameters if isinstance(each, click.Argument)]
    options = [each for each in parameters if isinstance(each, click.Option)]
    return {
        "arguments": [{"required": each.required, "many": each.nargs == -1} for each in arguments],
        "options": {name: _option(each) for each in options for name in (*each.opts, *each.secondary_opts)},
    }


def _option(option: click.Option) -> dict[str, Any]:
    """What an option takes; what is false or empty is left out."""
    kind = "flag" if option.is_flag else "optional" if option._flag_needs_value else "value"
    said = {
        "takes": "count" if option.count else kind,
        "many": option.multiple,
        "required": option.required,
        "words": list(option.type.choices) if isinstance(option.type, click.Choice) else [],
    }
    return {key: value for key, value in said.items() if value}


def commands_broken(kept: Mapping[str, Any], today: Mapping[str, Any]) -> list[str]:
    """Verbs, options and words that scripts use and that are no longer accepted."""
    return [fault for words, said in kept.items() for fault in _verb_broken(words, said, today.get(words))]


def _verb_broken(words: str, kept: Mapping[str, Any], today: Mapping[str, Any] | None) -> Iterator[str]:
    if today is None:
        yield f"{words} is missing"
        return
    for name, option in kept["options"].items():
        found = today["options"].get(name)
        if found is None:
            yield f"{words} {name} is missing"
            continue
        if found["takes"] != option["takes"] or (option.get("many") and not found.get("many")):
            yield f"{words} {name} takes another value"
        words_now = found.get("words", ())
        if words_now and (lost := [each for each in option.get("words", ()) if each not in words_now]):
            yield f"{words} {name} has lost {', '.join(lost)}"
    required = {name for name, option in kept["options"].items() if option.get("required")}
    new = {name for name, option in today["options"].items() if option.get("required")}
    yield from (f"{words} {name} is required" for name in sorted(new - required))
    before, after = kept["arguments"], today["arguments"]
    changed = any(
        (new["required"] and not old["required"]) or (old["many"] and not new["many"])
        for old, new in zip(before, after, strict=False)
    )
    if changed or len(after) < len(before) or any(each["required"] for each in after[len(before) :]):
        yield f"{words} takes other arguments"


def codes() -> dict[str, Any]:
    """The exit code of each verdict that fails, and of each code of an error."""
    return {
        "verdicts": {each.name: each.exit_code for each in Verdict},
        "errors": {each.code: each.exit_code for each in _errors(AbistoreError)},
    }


def _errors(error: type[AbistoreError]) -> Iterator[type[AbistoreError]]:
    yield error
    for each in error.__subclasses__():
        yield from _errors(each)


def codes_broken(kept: Mapping[str, Any], today: Mapping[str, Any]) -> list[str]:
    """Codes that are missing or have another number."""
    return [
        f"{name} is {today[part].get(name)}, and was {code}"
        for part, said in kept.items()
        for name, code in said.items()
        if today[part].get(name) != code
    ]


def answers() -> Any:
    """The schema of every verb's answer."""
    return stripped(answers_schema({words: answer_types(each) for words, each in declared(cli)}))


def files() -> dict[str, Any]:
    """The schemas of the files that people write, by what these are."""
    return {
        "abistore.toml": stripped(msgspec.json.schema(ConfigurationFile)),
        "policies": stripped(PolicyDocument.model_json_schema()),
        "suppressions": stripped(SuppressionDocument.model_json_schema()),
        "approvals": stripped(ApprovalDocument.model_json_schema()),
    }


def files_broken(kept: Mapping[str, Any], today: Mapping[str, Any]) -> list[str]:
    """What files say that are valid, and that today is not accepted."""
    return [f"{name}: {fault}" for name, schema in kept.items() for fault in breaches(schema, today[name], "written")]


def python() -> dict[str, Any]:
    """Every name of the package: the parameters of functions, the fields of records, the words of enumerations."""
    return {name: _described(getattr(abistore, name)) for name in abistore.__all__}


def _described(found: Any) -> dict[str, Any]:
    if isfunction(found):
        parameters = signature(found).parameters.values()
        return {
            "sort": "function",
            "parameters": [
                [each.name, each.kind is Parameter.KEYWORD_ONLY, each.default is Parameter.empty] for each in parameters
            ],
        }
    if issubclass(found, Enum):
        return {"sort": "enumeration", "words": [each.name for each in found]}
    if issubclass(found, msgspec.Struct):
        required = len(found.__struct_fields__) - len(found.__struct_defaults__)
        sort = "given" if issubclass(found, Given) else "record"
        return {"sort": sort, "fields": [[name, n < required] for n, name in enumerate(found.__struct_fields__)]}
    bases = [each.__name__ for each in found.__mro__[1:] if issubclass(each, AbistoreError)]
    return {"sort": "class", "bases": bases}


def python_broken(kept: Mapping[str, Any], today: Mapping[str, Any]) -> list[str]:
    """Names, parameters and fields that programs use and that are missing or required since."""
    return [f"{name}: {fault}" for name, said in kept.items() for fault in _name_broken(said, today.get(name))]


def _name_broken(kept: Mapping[str, Any], today: Mapping[str, Any] | None) -> Iterator[str]:
    if today is None or today["sort"] != kept["sort"]:
        yield "is missing" if today is None else f"is a {today['sort']}, and was a {kept['sort']}"
        return
    match kept["sort"]:
        case "function":
            yield from _parameters_broken(kept["parameters"], today["parameters"])
        case "enumeration":
            yield from (f"{word} is missing" for word in kept["words"] if word not in today["words"])
        case "class":
            yield from (f"is no longer a {base}" for base in kept["bases"] if base not in today["bases"])
        case sort:
            before, after = dict(kept["fields"]), dict(today["fields"])
            yield from (f"{name} is missing" for name in before if name not in after)
            required = (name for name, needed in after.items() if needed and not before.get(name))
            yield from (f"{name} is required" for name in required if sort == "given")


def _parameters_broken(kept: list[list[Any]], today: list[list[Any]]) -> Iterator[str]:
    after = {name: (keyword, needed) for name, keyword, needed in today}
    positional = [name for name, keyword, _ in kept if not keyword]
    if positional != [name for name, keyword, _ in today if not keyword][: len(positional)]:
        yield f"takes other positions than {', '.join(positional)}"
    before = {name: needed for name, _, needed in kept}
    yield from (f"{name} is missing" for name in before if name not in after)
    yield from (f"{name} is required" for name, (_, needed) in after.items() if needed and not before.get(name))


def mcp() -> dict[str, Any]:
    """The tools with their arguments and keys, the addresses of resources, and the prompts with their arguments."""
    said = json.loads(MCP.read_text())
    return {
        "tools": {
            each["name"]: {"arguments": stripped(each["inputSchema"]), "answer": stripped(each["outputSchema"])}
            for each in (*said["tools"], *said["writing"])
        },
        "addresses": sorted(
            each.get("uri") or each["uriTemplate"] for each in (*said["resources"], *said["templates"])
        ),
        "prompts": {each["name"]: [one["name"] for one in each["arguments"]] for each in said["prompts"]},
    }


def mcp_broken(kept: Mapping[str, Any], today: Mapping[str, Any]) -> list[str]:
    """What agents and their configurations use and that is missing or changed."""
    found = [f"{each} is missing" for each in kept["addresses"] if each not in today["addresses"]]
    for name, arguments in kept["prompts"].items():
        missing = set(arguments) - set(today["prompts"].get(name, ()))
        found += [f"prompt {name} is missing"] if name not in today["prompts"] else []
        found += [f"prompt {name}: {each} is missing" for each in sorted(missing)]
    for name, tool in kept["tools"].items():
        now = today["tools"].get(name)
        if now is None:
            found.append(f"{name} is missing")
            continue
        found += [f"{name}{each}" for each in breaches(tool["arguments"], now["arguments"], "written")]
        found += [f"{name}{each}" for each in breaches(tool["answer"], now["answer"], "read")]
    return found


def kinds() -> list[str]:
    """The names of all kinds of change and their variants."""
    return sorted(each.kind for each in abistore.changes())


def kinds_broken(kept: list[str], today: list[str]) -> list[str]:
    """Names that neither kinds nor their former names have."""
    from abistore.model.kind_names import name_now

    return [f"{each} is missing" for each in kept if each not in today and name_now(each) not in today]


PROMISES: dict[str, Promise] = {
    "commands": Promise(commands, commands_broken),
    "codes": Promise(codes, codes_broken),
    f"answers-{VERSION}": Promise(answers, lambda kept, today: breaches(kept, today, "read")),
    "files": Promise(files, files_broken),
    "python": Promise(python, python_broken),
    "mcp": Promise(mcp, mcp_broken),
    "kinds": Promise(kinds, kinds_broken),
}
"""Every promise by the name of its file."""


def kept(name: str) -> Any:
    """What is kept of a promise."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def _written(value: Any) -> str:
    """JSON with a line for each entry of the outermost two levels, so that differences can be read."""
    if isinstance(value, list):
        return json.dumps(value, indent=0) + "\n"
    parts = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in inner.items())
            parts.append(f"{json.dumps(key)}: {{\n{lines}\n}}")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(inner)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(*, replace: bool) -> list[str]:
    """Write the files of all promises; nothing, and what is broken, where one does not only grow."""
    broken = [
        f"{name}: {fault}"
        for name, promise in PROMISES.items()
        if (FOLDER / f"{name}.json").exists()
        for fault in promise.broken(kept(name), promise.today())
    ]
    if broken and not replace:
        return broken
    for name, promise in PROMISES.items():
        (FOLDER / f"{name}.json").write_text(_written(promise.today()))
    if not SNAPSHOT.exists():
        SNAPSHOT.write_bytes(to_json(snapshot(FACETS)))
    if not BUNDLE.exists():
        _write_bundle()
    return []


def _write_bundle() -> None:
    with TemporaryDirectory() as folder:
        database = Path(folder) / "abi.db"
        with Store.open(database, write=True) as store:
            fill(store)
        BUNDLE.write_bytes(abistore.export_bundle(database=database).data)


if __name__ == "__main__":
    faults = write(replace="--replace" in sys.argv[1:])
    sys.exit("\n".join(faults) or 0)
