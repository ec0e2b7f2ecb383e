"""Which release a tool that writes means, and where its line stands."""

from __future__ import annotations

from abistore.interface import OpenStore, Release
from abistore.mcp.answers.answer import brief
from abistore.mcp.lines import ChosenLine
from abistore.mcp.refusals import Refusal
from abistore.model.words.nearness import did_you_mean, near


def release_of(store: OpenStore, line: ChosenLine, version: str) -> Release:
    """The release of a line that has this label; ``latest`` is one. Raises :class:`Refusal`."""
    wanted = line.latest if version == "latest" else version
    releases = store.releases(line.library, target=line.target, profile=line.profile)
    for release in releases:
        if release.version == wanted and not release.candidate:
            return release
    hint = did_you_mean(near(wanted, [one.version for one in releases]), "abi_list(library) has the versions")
    raise Refusal("NOT_FOUND", f"{line.library} has no release {brief(version, 80)}", hint)


def named(release: Release) -> str:
    """A release as a person is asked about it: ``libfoo 1.2 (elf-x86_64-64-little, default; digest 1a2b3c4d5e6f)``."""
    line = release.line
    return f"{line.library} {release.version} ({line.target}, {line.profile}; digest {release.digest[:12]})"
