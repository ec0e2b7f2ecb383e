"""The history of real libraries, obtained, built, stored and written down.

::

    python -m examples.case_studies obtain            # sdists by version and digest (CASE ... for some only)
    python -m examples.case_studies build             # every release for every line
    python -m examples.case_studies ingest            # into .cache/examples/cases/CASE.db
    python -m examples.case_studies keep              # the database as examples/case_studies/CASE.bundle
    python -m examples.case_studies restore           # the same database from it, without network and compiler
    python -m examples.case_studies depict            # the site, and docs/images/case-CASE.png, a picture of it
    python -m examples.case_studies document          # what each command of docs/lab/case-studies/ prints
    python -m examples.case_studies remake            # bundle, picture and page, from the recipe alone
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from examples.case_studies.building import built
from examples.case_studies.case import Case, case, names
from examples.case_studies.obtaining import unpacked
from examples.case_studies.pages import document
from examples.case_studies.picturing import depict
from examples.case_studies.storing import database, ingest, keep, restore
from examples.obtain import Missing


def obtain(case: Case) -> None:
    """The sources of every release."""
    for release in case.releases:
        print(f"{case.name} {release.version}: {unpacked(case, release)}", flush=True)


def build(case: Case) -> None:
    """Every release for every line; those that are there cost nothing."""
    for release in case.releases:
        for line in case.lines:
            print(f"{case.name} {release.version} {line}: {built(case, release, line)}", flush=True)


def remake(case: Case) -> None:
    """The bundle, the picture and the page, from an empty database."""
    database(case).unlink(missing_ok=True)
    for step in (ingest, keep, depict, document):
        step(case)


STEPS: dict[str, Callable[[Case], None]] = {
    "obtain": obtain,
    "build": build,
    "ingest": ingest,
    "keep": keep,
    "restore": restore,
    "depict": depict,
    "document": document,
    "remake": remake,
}


def main() -> None:
    """One step for all libraries, or for those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("case", nargs="*", metavar="CASE", help=f"of {', '.join(names())}")
    asked = parser.parse_args()
    try:
        for name in asked.case or names():
            STEPS[asked.step](case(name))
    except Missing as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
