"""Corrupt debug information, through the reader: a snapshot or an InputError, and nothing else."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from abistore.errors import InputError
from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.reader import read
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot
from tests.build import build_library

FLIPS = int(os.environ.get("ABISTORE_TEST_FLIPS", "40"))
"""Corrupted files for each section; 2,000 take some minutes."""

SOURCE = """
namespace geo {
template <class T> struct Grid {
  T first; int low : 3; int high : 5; T rows[4][2];
  virtual ~Grid(); virtual int at(const T &) const;
};
struct Base { int base; };
struct Shape : Base, virtual Grid<int> {
  enum class Sort : short { round = 1, odd = -2 } sort;
  union { int whole; float part; };
  int (*call)(int, ...);
  int Base::*member;
};
template <class T> Grid<T>::~Grid() {}
template <class T> int Grid<T>::at(const T &) const { return 1; }
template struct Grid<int>;
typedef Shape Alias;
int use(Alias *a, Shape &b, const volatile Grid<int> *c, const Base d) { return a->base; }
int counter;
thread_local int own;
}
"""

FORMS = {
    "dwarf-5": ("-gdwarf-5",),
    "dwarf-4": ("-gdwarf-4",),
    "dwarf-4-types": ("-gdwarf-4", "-fdebug-types-section"),
    "dwarf-5-wide": ("-gdwarf-5", "-gdwarf64"),
    "compressed": ("-gdwarf-5", "-gz=zlib"),
    "clang": ("-gdwarf-5",),
}


@pytest.mark.parametrize("form", FORMS)
def test_flipped_bits_in_debug_sections_give_a_snapshot_or_an_error(form: str, tmp_path: Path) -> None:
    compiler = "clang++" if form == "clang" else "g++"
    library = build_library(SOURCE, language="c++", compiler=compiler, flags=FORMS[form])
    original = library.read_bytes()
    sections = [section for section in ElfFile(library).sections if section.name.startswith((".debug_", ".zdebug_"))]
    assert len(sections) > 4
    source = random.Random(form)
    path = tmp_path / "libcase.so"
    snapshots = 0
    for section in sections:
        for _ in range(FLIPS):
            data = bytearray(original)
            for _ in range(source.choice((1, 1, 3))):
                data[section.offset + source.randrange(section.size)] ^= 1 << source.randrange(8)
            path.write_bytes(data)
            try:
                snapshots += isinstance(read(path, ExtractOptions()), Snapshot)
            except InputError as error:
                assert error.message
    assert 0 < snapshots < FLIPS * len(sections)


@pytest.mark.parametrize("section", [".debug_info", ".debug_abbrev", ".debug_str", ".debug_line"])
def test_a_section_of_noise_gives_a_snapshot_or_an_error(section: str, tmp_path: Path) -> None:
    library = build_library(SOURCE, language="c++", flags=FORMS["dwarf-5"])
    place = next(one for one in ElfFile(library).sections if one.name == section)
    source = random.Random(section)
    path = tmp_path / "libcase.so"
    for noise in (bytes(place.size), b"\xff" * place.size, b"\x80" * place.size, source.randbytes(place.size)):
        data = bytearray(library.read_bytes())
        data[place.offset : place.offset + place.size] = noise
        path.write_bytes(data)
        try:
            assert isinstance(read(path, ExtractOptions()), Snapshot)
        except InputError as error:
            assert error.message
