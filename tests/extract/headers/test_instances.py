"""Instances of templates that headers only point to have the layouts that compilers give them."""

from __future__ import annotations

import pytest

from abistore.extract.headers import instantiate
from abistore.extract.reader import FacetReading
from abistore.model.declarations import Declared, Name
from abistore.model.shapes import Base, Named, Opaque, Record
from abistore.model.snapshot import HeadersRead
from tests.public_headers import read_texts

pytestmark = pytest.mark.fast

TEMPLATES = """
template <class T> struct Pair { T one; T two; };
template <class T> struct Left { T x; };
template <class T> struct Right { T y; };
template <class T> struct Both : Left<T>, Right<T *> { T z; virtual void call(T); };
template <class T> struct Node { T value; Node *next; };
template <class T> struct List { Node<T> *first; struct Iterator { Node<T> *at; long steps; }; };
template <class F> struct Callback;
template <class R, class... A> struct Callback<R(A...)> { R (*call)(A...); void *data; };
template <class T> struct Handle;
template <class T> struct Large { static_assert(sizeof(T) > 8, "too small"); T t; };
class Owner {
  struct Part { long a; };
  template <class T> struct Own { T t; T u; };
 public:
  Pair<Part> *parts();
  Own<int> *own();
};
"""


def reading(text: str, standard: str = "c++17") -> FacetReading:
    return read_texts((("api.h", TEMPLATES + text),), standard=standard)


def layout(found: FacetReading, spelling: str) -> Record | None:
    shapes = found.entries.get(Name("record", spelling), ())
    return next((shape for shape in shapes if isinstance(shape, Record)), None)


def unmade(found: FacetReading) -> dict[str, str]:
    assert isinstance(found.headers, HeadersRead)
    return dict(found.headers.unmade)


@pytest.mark.parametrize(
    ("mention", "instance", "size"),
    [
        ("int f(Pair<int> *);", "Pair<int>", 8),
        ("int f(const Pair<char> &);", "Pair<char>", 2),
        ("struct Holder { Pair<double> *kept; };", "Pair<double>", 16),
        ("extern Pair<short> *kept;", "Pair<short>", 4),
        ("int f(List<char> &);", "Node<char>", 16),
        ("int f(List<char>::Iterator &);", "List<char>::Iterator", 16),
        ("int f(Callback<int(long)> &);", "Callback<int(long)>", 16),
        ("int f(Both<int> &);", "Both<int>", 32),
        ("int f(Pair<Pair<int> > *);", "Pair<Pair<int>>", 16),
        ("", "Pair<Owner::Part>", 16),
        ("", "Owner::Own<int>", 8),
    ],
)
def test_what_headers_only_point_to_has_a_layout(mention: str, instance: str, size: int) -> None:
    found = layout(reading(mention), instance)
    assert found is not None
    assert found.size == size


def test_bases_of_an_instance_are_where_the_compiler_puts_them() -> None:
    found = layout(reading("int f(Both<int> *);"), "Both<int>")
    assert found is not None
    assert found.bases == (
        Base(Named(Name("record", "Left<int>")), 64, False, "public"),
        Base(Named(Name("record", "Right<int*>")), 128, False, "public"),
    )
    assert [(each.name, each.offset) for each in found.fields] == [("z", 192)]
    assert [each.slot for each in found.virtuals] == [0]


def test_bases_that_headers_use_whole_elsewhere_are_found_too() -> None:
    found = layout(reading("struct Has { Left<int> a; Right<int *> b; }; int f(Has *, Both<int> *);"), "Both<int>")
    assert found is not None
    assert [each.offset for each in found.bases] == [64, 128]


def test_an_instance_whose_bases_are_known_takes_one_more_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = []
    made = instantiate._made
    monkeypatch.setattr(instantiate, "_made", lambda *given, **options: readings.append(1) or made(*given, **options))
    text = "template <class T> struct Lone { T t; }; template <class T> struct Kin { T *t; };"
    found = read_texts((("kin.h", f"{text} struct Has : Kin<Has> {{ int a; }}; int f(Lone<Has> *);"),))
    assert layout(found, "Lone<Has>") is not None
    assert len(readings) == 1


def test_an_instance_that_cannot_be_made_is_left_out_alone_and_says_why() -> None:
    found = reading("int f(Large<int> *, Pair<int> *, Handle<int> *);")
    assert layout(found, "Large<int>") is None
    assert layout(found, "Pair<int>") is not None
    told = unmade(found)
    assert told.keys() == {"Handle<int>", "Large<int>"}
    assert "too small" in told["Large<int>"]
    assert "undefined template" in told["Handle<int>"]
    assert found.evidence.state == "full"


def test_a_class_that_a_template_only_declares_stays_a_handle() -> None:
    found = reading("template <class T> struct Box { struct State; State *state; }; int f(Box<int>::State *);")
    assert found.entries[Name("record", "Box<int>::State")] == (Opaque("struct"),)


def test_instances_of_unnamed_classes_are_not_asked_for() -> None:
    found = reading("struct { int a; } one; int f(Pair<decltype(one)> *, Pair<long> *);")
    assert layout(found, "Pair<long>") is not None
    assert not unmade(found)


def test_an_instance_is_as_private_as_its_template() -> None:
    text = "class Cache { template <class T> struct Slot { T t; }; Slot<int> *slots; public: Cache(); };"
    found = layout(reading(text), "Cache::Slot<int>")
    assert found is not None
    assert found.access == "private"


def test_old_standards_are_read_alike() -> None:
    text = "template <class T> struct Trio { T a[3]; }; int f(Trio<Trio<int> > *);"
    found = read_texts((("api.h", text),), standard="c++98")
    inner = layout(found, "Trio<int>")
    assert inner is not None
    assert inner.size == 12


def test_what_is_made_stays_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instantiate, "MOST_INSTANCES", 2)
    text = "template <class T> struct Bounded { T t; }; int f(Bounded<int> *, Bounded<char> *, Bounded<long> *);"
    found = read_texts((("bounded.h", text),))
    laid = [each for each in ("char", "int", "long") if layout(found, f"Bounded<{each}>") is not None]
    assert laid == ["char", "int"]


def test_a_template_that_points_to_ever_more_instances_ends() -> None:
    text = "template <int N> struct Chain { Chain<N + 1> *next; int value; }; int f(Chain<0> *);"
    found = read_texts((("chain.h", text),))
    assert layout(found, "Chain<0>") is not None


def test_headers_that_point_to_no_instance_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr(instantiate, "_made", never)
    text = "template <class T> struct Whole { T t; }; struct Has { Whole<int> whole; }; int f(Has *, Whole<int> *);"
    found = read_texts((("whole.h", text),))
    assert layout(found, "Whole<int>") is not None


def test_what_is_declared_and_where_stays_as_it_was() -> None:
    found = reading("int f(List<int> *);")
    assert isinstance(found.entries[Name("record", "List")][0], Declared)
    assert found.locations[Name("record", "List")].line == 7
    assert Name("record", "List<int>") not in found.locations


def test_no_class_of_the_reader_itself_is_told() -> None:
    found = reading("int f(List<int> *);")
    assert not [name for name in found.entries if "abistore" in name.spelling]
