"""Corrupt debug information, through the reader: a snapshot or an InputError, and nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from abistore.errors import InputError
from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import ElfFile, ElfSection
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.extract.damage import outcomes, tighten

pytestmark = pytest.mark.full

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


SECTIONS = ("abbrev", "aranges", "info", "line", "line_str", "rnglists", "str")


def built(form: str) -> Path:
    return build_library(SOURCE, language="c++", compiler="clang++" if form == "clang" else "g++", flags=FORMS[form])


def sections_of(library: Path) -> list[ElfSection]:
    return [section for section in ElfFile(library).sections if section.name.startswith((".debug_", ".zdebug_"))]


def place(section: ElfSection) -> range:
    return range(section.offset, section.offset + section.size)


@pytest.fixture(autouse=True)
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    tighten(monkeypatch)


@pytest.mark.parametrize("name", SECTIONS)
def test_flipped_bits_in_each_debug_section_give_a_snapshot_or_an_error(name: str, tmp_path: Path) -> None:
    library = built("dwarf-5")
    (section,) = (each for each in sections_of(library) if each.name == f".debug_{name}")
    assert outcomes(library, [place(section)], tmp_path)["snapshot"] > 0


def test_the_usual_form_has_no_other_debug_sections() -> None:
    assert {section.name.removeprefix(".debug_") for section in sections_of(built("dwarf-5"))} == set(SECTIONS)


@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"dwarf-5"}))
def test_flipped_bits_in_other_forms_of_debug_information_give_a_snapshot_or_an_error(
    form: str, tmp_path: Path
) -> None:
    library = built(form)
    sections = sections_of(library)
    assert len(sections) > 4
    assert min(outcomes(library, [place(each) for each in sections], tmp_path).values()) > 0


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
            assert isinstance(read_snapshot(path, ExtractOptions()), Snapshot)
        except InputError as error:
            assert error.message
