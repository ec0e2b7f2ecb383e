"""The package that a release was read from, in words."""

from __future__ import annotations

from typing import Protocol

from abistore.model.snapshot import PackageRead, Provenance


class NamedPackage(Protocol):
    """A package with the names that people know it by."""

    @property
    def name(self) -> str:
        """That of the package itself."""

    @property
    def source(self) -> str:
        """That of the source package."""

    @property
    def suite(self) -> str:
        """The part of the distribution."""


def package_of(provenance: Provenance) -> PackageRead | None:
    """The package of a distribution; what the snapshot of a former version does not tell of it is empty."""
    package = provenance.package
    return package if isinstance(package, PackageRead) and package.name else None


def package_words(package: PackageRead) -> str:
    """``libfoo1 1.0-1 amd64, source foo, of bookworm``."""
    source = package.source if package.source != package.name else ""
    told = (f"source {source}" if source else "", f"of {package.suite}" if package.suite else "")
    name = " ".join(filter(None, (package.name, package.version, package.architecture)))
    return ", ".join(filter(None, (name, *told)))


def short_package(package: NamedPackage) -> str:
    """``foo/libfoo1 bookworm``: what a column has."""
    source = f"{package.source}/" if package.source not in {"", package.name} else ""
    return f"{source}{package.name}{f' {package.suite}' if package.suite else ''}"
