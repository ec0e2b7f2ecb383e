"""The words of agents for what the command line says by options, commands and pages.

Services name the next step once, with options and commands. The command line prints it so; agents have neither, and
are told arguments, tools and addresses instead.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from abistore.mcp.answers import spelled
from abistore.mcp.tools.all import PROVING, TOOLS, WRITING

RENAMED: Final[Mapping[str, str]] = {
    "declare": "declaration",
    "digest": "confirm_digest",
    "expect": "expected_current",
    "full": "detail_level='full'",
    "header": "headers",
    "include_dir": "include_dirs",
    "mode": "report_mode",
    "new_header": "new_headers",
    "old_header": "old_headers",
    "profile": "line",
    "released": "released_at",
    "require": "require_evidence",
    "suppress": "suppression_file",
    "target": "line",
}
"""Options, as names, that tools call otherwise. All others have the name of the argument that says the same."""

OF_THE_SERVER: Final = frozenset(
    {"--allow-write", "--approvals", "--db", "--export-root", "--max-file-size", "--max-memory", "--read-root"}
    | {"--timeout", "--write"}
)
"""Options that only whoever starts the server, or makes a token, can set: agents tell that person."""

ASKED: Final[Mapping[str, str]] = {
    "approve": "abi_approve",
    "approve add": "abi_approve",
    "approve list": "abistore://libraries/{library}/approvals",
    "approve note": "abi_review",
    "approve withdraw": "abi_approve",
    "blame": "abistore://libraries/{library}/blame",
    "changes": "abi_list_changes",
    "compare": "abi_compare",
    "consumers broken": "abi_consumers",
    "consumers list": "abi_consumers",
    "consumers show": "abistore://consumers/{consumer}",
    "consumers using": "abi_consumers",
    "db audit": "abistore://audit",
    "db baseline history": "abistore://libraries/{library}/baseline",
    "db baseline list": "abi_list",
    "db baseline promote": "abi_baseline",
    "db baseline set": "abi_baseline",
    "db forget": "abi_delete",
    "db release tag": "abi_tag",
    "db scheme": "abistore://libraries/{library}/scheme",
    "db stats": "abi_store_stats",
    "env can-ship": "abistore://libraries/{library}/releases/{version}/ships/{environment}",
    "env diff": "abistore://environments/{environment}/differences/{other}",
    "env list": "abistore://environments",
    "explain": "abi_explain_change",
    "export": "abi_dump",
    "gate": "abi_gate",
    "history": "abi_history",
    "ingest": "abi_ingest",
    "list": "abi_list",
    "log": "abi_symbol_history",
    "matrix": "abistore://libraries/{library}/matrix",
    "mcp prompts": "abi_help",
    "mcp resources": "abi_help",
    "mcp tools": "abi_help",
    "policy show": "abistore://policies/{policy}",
    "policy suppress list": "abi_findings",
    "show": "abi_show",
    "verdict": "abi_summary",
    "whatif": "abi_whatif",
    "witness": "abi_witness",
}
"""Verbs of the command line, and the tool or address that answers the same question."""

BY_HAND: Final[Mapping[str, str]] = {
    "approve export": "writes a file that people review in a repository",
    "approve sync": "takes over a file that people reviewed",
    "archive ingest": "stores many files: a person runs it where they lie",
    "archive report": "reports on all libraries to people: abi_history is about one",
    "comment": "speaks for a pipeline's job, with its token; abi_review_build writes such a text",
    "config completion": "is for shells",
    "config schema": "is for editors and validators; abistore://schema has that of answers",
    "config show": "shows the settings of the command line",
    "consumers add": "stores what programs use: a person names them",
    "consumers remove": "takes programs out of the store",
    "db backup": "copies the database",
    "db baseline clear": "leaves a library unguarded",
    "db check": "reads every row of the database",
    "db init": "creates a database",
    "db merge": "merges another database",
    "db prune": "removes builds",
    "db release edit": "corrects what is recorded about a release",
    "db upgrade": "changes the schema of the database",
    "db vacuum": "gives space back to the disk",
    "env drift": "compares a folder of this machine with an environment",
    "env record": "records what was installed: a person or a deployment does",
    "env remove": "records what was removed: a person or a deployment does",
    "import": "stores files of other tools",
    "init": "writes the configuration of a project on this machine",
    "mcp call": "is how a person calls a tool",
    "mcp config": "sets a client up",
    "mcp serve": "starts the server",
    "mcp skill": "prints a file that people install",
    "mcp token": "makes a secret",
    "notify": "feeds programs with what happened; agents subscribe to addresses",
    "policy bind": "is for whoever is responsible for the store",
    "policy bound": "is in the reasons of each decision",
    "policy check": "is for whoever writes a policy; abi_compare(policy_file=...) checks it, too",
    "policy suppress check": "is for whoever writes suppressions; abi_compare(suppression_file=...) checks them, too",
    "policy suppress suggest": "writes a file that a person reviews",
    "policy unbind": "is for whoever is responsible for the store",
    "site": "writes pages for people",
}
"""Verbs that no tool does, and why."""

PROSE: Final = frozenset(
    {"advice", "detail", "fix", "fix_guidance", "guidance", "headline", "hint", "not_checked", "pending", "reason"}
    | {"reasons", "remarks", "sentence", "unapproved", "warnings", "ways", "why"}
)
"""The members of answers that hold sentences; others hold names and declarations, which stay as they are."""

QUOTED: Final = frozenset({"report", "snapshot"})
"""The members that are what the command line writes, byte for byte."""

_VERBS = "|".join(sorted((*ASKED, *BY_HAND), key=len, reverse=True))
_WORD = r"[^\s;,()`]+"
_COMMAND = re.compile(
    rf"`(?:abistore )?({_VERBS})\b([^`]*)`|"
    rf"\babistore ({_VERBS})\b((?: --[a-z-]+ {_WORD}| '[^']*'| {_WORD}[@/]{_WORD}| [0-9a-f]{{8,}})*)"
)
"""A command in quotes with all its words, or one within a sentence with those that can only be its own."""

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_IDENTITY = re.compile(r"[0-9a-f]{8,}")
_LINE = re.compile(r"--target (\S+) --profile ([\w.-]+)")
_PAGE = re.compile(r"\bdocs/[a-z]+/([a-z-]+)\.md\b")


def in_answer(value: Any, *, prose: bool = False) -> Any:
    """A whole answer with its sentences in the words of agents."""
    if isinstance(value, dict):
        return {name: each if name in QUOTED else in_answer(each, prose=name in PROSE) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [in_answer(each, prose=prose) for each in value]
    return for_agents(value) if prose and isinstance(value, str) else value


def for_agents(text: str) -> str:
    """A sentence with arguments for options, tools and addresses for commands, and addresses for pages."""
    if "`" not in text and "--" not in text and "abistore" not in text and "docs/" not in text:
        return text
    text = _COMMAND.sub(_command, text.replace("`abistore --help`", "abi_help"))
    text = _LINE.sub(r"line='\1/\2'", text)
    return _PAGE.sub(r"abistore://docs/\1", _OPTION.sub(_argument, text))


@cache
def known_arguments() -> frozenset[str]:
    """The arguments of all tools."""
    return frozenset(
        each.name for tool in (*TOOLS.values(), *WRITING.values(), *PROVING.values()) for each in tool.parameters()
    )


def _argument(option: re.Match[str]) -> str:
    if option[0] in OF_THE_SERVER:
        return option[0]
    name = option[0][2:].replace("-", "_")
    found = RENAMED.get(name, name)
    return found if name in RENAMED or name in known_arguments() else f"{name} (command line only)"


def _command(command: re.Match[str]) -> str:
    verb, words = command[1] or command[3], command[2] or command[4] or ""
    if verb in BY_HAND:
        return f"`abistore {verb}` (command line only)"
    asked = ASKED[verb]
    given = _given(_split(words))
    if not asked.startswith("abi_"):
        return re.sub(r"\{(\w+)\}", lambda name: str(given.get(name[1], name[0])), asked)
    if asked == "abi_approve" and "library" in given:
        given = {"finding_ids": [word for word in _split(words) if _IDENTITY.fullmatch(word)], **given}
    own = {each.name for each in {**TOOLS, **WRITING, **PROVING}[asked].parameters()}
    told = {name: value for name, value in given.items() if name in own}
    return spelled(asked, **told) if told else asked


def _given(words: list[str]) -> dict[str, Any]:
    """What the words behind a verb say, by arguments; words in capitals stand for anything, and are left out."""
    given: dict[str, Any] = {}
    option = ""
    for word in words:
        if word.startswith("-"):
            name = word.strip("-").replace("-", "_")
            option = RENAMED.get(name, name)
        elif option:
            given[option] = f"{given[option]}/{word}" if option in given else word
            option = ""
        elif not word.isupper():
            library, at, version = word.partition("@")
            given |= {"library": library, "reference": word, **({"version": version} if at else {})}
    return given


def _split(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError:
        return words.split()
