"""Which public headers include each other, as one reading of all of them tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.extract.headers.reader import work
from abistore.extract.reader import HeaderOptions, HeaderRequest
from abistore.model.snapshot import INCLUDES
from tests.public_headers import TARGET

pytestmark = pytest.mark.fast


def outlines(folder: Path, files: dict[str, str], *, private: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """What each header includes, of headers with these texts; those in ``others`` are found, and not given."""
    (folder / "others").mkdir()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    options = HeaderOptions(
        (folder / "public",), private=private, language="c", include_dirs=(folder / "others", folder / "public")
    )
    read = work(HeaderRequest(options, TARGET, False, False, None, 60, 2_000_000_000, 60.0)).read
    assert INCLUDES in read.facts
    return {each.file: each.includes for each in read.outlines if each.includes}


def test_an_include_counts_where_the_file_was_read_before(tmp_path: Path) -> None:
    files = {
        "public/a.h": "#pragma once\ntypedef int number;\n",
        "public/b.h": '#include "a.h"\nnumber b(void);\n',
        "public/c.h": '#include <a.h>\n#include "b.h"\n#include <stddef.h>\n',
    }
    assert outlines(tmp_path, files) == {"b.h": ("a.h",), "c.h": ("a.h", "b.h")}


def test_headers_that_were_not_given_lead_to_those_that_were(tmp_path: Path) -> None:
    files = {
        "public/a.h": "#pragma once\ntypedef int number;\n",
        "public/detail/more.h": '#include "others.h"\n',
        "public/parts.inc": '#include "c.h"\n',
        "public/b.h": '#include "detail/more.h"\nnumber b(void);\n',
        "public/c.h": "#pragma once\nint c(void);\n",
        "public/d.h": '#include "parts.inc"\n#include "d.h"\n',
        "others/others.h": '#include "a.h"\n#include <stdint.h>\n',
    }
    files["public/d.h"] = "#pragma once\n" + files["public/d.h"]
    assert outlines(tmp_path, files, private=("detail/*",)) == {"b.h": ("a.h",), "d.h": ("c.h",)}


def test_a_condition_leaves_an_include_out_unless_it_asks_for_the_guard(tmp_path: Path) -> None:
    files = {
        "public/a.h": "#ifndef A_H\n#define A_H\nint a(void);\n#endif\n",
        "public/b.h": '#ifndef A_H\n# include "a.h"\n#endif\nint b(void);\n',
        "public/c.h": "#if !defined(A_H)\n#include <a.h>\n#endif\nint c(void);\n",
        "public/d.h": '#ifdef WITH_A\n#include "a.h"\n#endif\n#ifndef NO_A\n#include "b.h"\n#endif\nint d(void);\n',
        "public/e.h": '#ifndef A_HH\n#define A_HH\n#ifdef WITH_A\n#include "a.h"\n#endif\n#endif\nint e(void);\n',
    }
    assert outlines(tmp_path, files) == {"b.h": ("a.h",), "c.h": ("a.h",), "d.h": ("b.h",)}


def test_functions_are_counted_and_no_macros(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("#define LIMIT 3\n#define CALL(x) x\nextern int state;\nint a(void);\nint b(void);\n")
    options = HeaderOptions((tmp_path,), language="c")
    read = work(HeaderRequest(options, TARGET, False, False, None, 60, 2_000_000_000, 60.0)).read
    assert [(each.file, each.linked) for each in read.outlines] == [("a.h", 3)]
