"""Releases of real libraries, built from the sources that package registries carry with any compiler and flags."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from examples.obtain import CACHE, Missing, alone, source
from examples.recipes import JSONNET, RECIPES, Recipe, build

UNOPTIMISED_JSONNET = replace(JSONNET, flags=(*JSONNET.flags, "-O0"))
"""A large library in C++ that describes all of its classes and instances, and compiles in a third of the time."""


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
    """The library of one release as ``variant`` builds it, or as the recipe itself does; skips like :func:`release`.

    Of several workers that want the same, one obtains and builds it.
    """
    try:
        with alone(CACHE / "locks" / f"{recipe.package}-{version}"):
            source(recipe.origin, recipe.package, dict(recipe.releases)[version])
    except Missing as problem:
        pytest.skip(f"the sources of {recipe.library} {version} cannot be obtained: {problem}")
    built = variant or recipe
    with alone(CACHE / "locks" / f"{built.library}-{version}-built"):
        return build(built, version)
