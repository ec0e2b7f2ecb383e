"""The words of policies and suppressions: kinds and their aliases, categories, impacts; and what was meant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from abistore.compare.rule import Rule, load
from abistore.errors import PolicyError
from abistore.model.findings import Impact
from abistore.model.judging.kinds import kind_of
from abistore.model.words.nearness import LOOSELY_ALIKE, close, did_you_mean

CATEGORIES = ("abi_breaking", "potential_breaking", "quality_issues", "addition", "notice")

IMPACTS = {impact.label: impact for impact in Impact}


def category_of(rule: Rule) -> str:
    """The category of a kind, which follows from its default impact, element and action.

    ``abi_breaking``: breaking; ``potential_breaking``: a source break or a risk; ``addition``: a compatible new
    declaration; ``quality_issues``: every other compatible change; ``notice``: what is not about the library's own ABI.
    """
    if rule.impact <= Impact.NOTICE:
        return "notice"
    if rule.impact is Impact.BREAKING:
        return "abi_breaking"
    if rule.impact is not Impact.COMPATIBLE:
        return "potential_breaking"
    return "addition" if rule.action == "added" and rule.element != "library" else "quality_issues"


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """Every name of a kind, aliases too, and the kinds that it stands for, by their full names.

    ``KIND`` is the plain variant alone, ``KIND.VARIANT`` that variant, and ``KIND.*`` the kind with all its variants.
    """
    found: dict[str, tuple[str, ...]] = {}
    rules = load()
    for rule in rules.values():
        names = [alias for alias in rule.aliases if alias not in rules]
        for name in (*names, f"{kind_of(rule.kind)}.*"):
            found[name] = tuple(sorted((*found.get(name, ()), rule.kind)))
    return found | {kind: (kind,) for kind in rules}


def resolve_kind(word: str, where: str) -> tuple[str, ...]:
    """The kinds that ``word`` stands for. Raises :class:`PolicyError` with what was probably meant."""
    known = kinds()
    name = word.strip().replace("-", "_")
    found = known.get(name)
    if found is None and f"{name}.*" in known:
        variants = ", ".join(known[f"{name}.*"])
        raise PolicyError(f"{where}: {word!r} has variants only", f"{name}.* is all of them; one of: {variants}")
    if found is None:
        raise PolicyError(
            f"{where}: no kind of change is called {word!r}", meant(word, known, "see `abistore changes`")
        )
    return found


def resolve_category(word: str, where: str) -> str:
    """The category called ``word``. Raises :class:`PolicyError`."""
    if word not in CATEGORIES:
        raise PolicyError(f"{where}: no category is called {word!r}", meant(word, CATEGORIES, ""))
    return word


def meant(word: str, known: Iterable[str], otherwise: str) -> str:
    """A hint that names what ``word`` was probably meant to be; else ``otherwise``, or all that is known."""
    words = sorted(known)
    found = close(word.replace("-", "_"), words, alike=LOOSELY_ALIKE)
    return did_you_mean(found, otherwise or f"one of: {', '.join(words)}")
