"""Releases of real libraries, built from the sources that package registries carry with any compiler and flags."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from examples.obtain import CACHE, Missing, source
from examples.recipes import RECIPES, Recipe, build


def release(recipe: Recipe, version: str, *flags: str, compiler: str | None = None) -> Path:
    """The library of one release; ``flags`` come after the recipe's own, so that they win.

    Skips the test where the sources cannot be obtained; a source that does not compile fails it.
    """
    if recipe is RECIPES.get(recipe.library) and not flags and compiler is None:
        return obtained(recipe, version)  # which the demo builds too
    compiler = compiler or recipe.compiler
    told = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    key = hashlib.sha256(repr((recipe, flags, told)).encode()).hexdigest()[:12]
    all_flags = (*recipe.flags, *flags)
    return obtained(
        recipe, version, replace(recipe, library=f"{recipe.library}-{key}", compiler=compiler, flags=all_flags)
    )


def obtained(recipe: Recipe, version: str, variant: Recipe | None = None) -> Path:
    """The library of one release as ``variant`` builds it, or as the recipe itself does; skips like :func:`release`."""
    with _alone():
        try:
            source(recipe.origin, recipe.package, dict(recipe.releases)[version])
        except Missing as problem:
            pytest.skip(f"the sources of {recipe.library} {version} cannot be obtained: {problem}")
        return build(variant or recipe, version)


@contextmanager
def _alone() -> Iterator[None]:
    """Only one process obtains and builds at a time: they share folders."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
