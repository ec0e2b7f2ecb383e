"""The default arguments of the standard library's templates, which abi-dumper leaves out of names."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import plain_template

ALLOCATOR: Final = "std::allocator<{0}>"
OF_PAIRS: Final = "std::allocator<std::pair<{0} const, {1}>>"
TRAITS: Final = "std::char_traits<{0}>"
MAX_LENGTH: Final = 1 << 12
MAX_DEPTH: Final = 32

DEFAULTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("vector", "deque", "list", "forward_list"), ("", ALLOCATOR)),
    **dict.fromkeys(("set", "multiset"), ("", "std::less<{0}>", ALLOCATOR)),
    **dict.fromkeys(("map", "multimap"), ("", "", "std::less<{0}>", OF_PAIRS)),
    **dict.fromkeys(("unordered_set", "unordered_multiset"), ("", "std::hash<{0}>", "std::equal_to<{0}>", ALLOCATOR)),
    **dict.fromkeys(
        ("unordered_map", "unordered_multimap"), ("", "", "std::hash<{0}>", "std::equal_to<{0}>", OF_PAIRS)
    ),
    **dict.fromkeys(("stack", "queue"), ("", "std::deque<{0}, std::allocator<{0}>>")),
    **dict.fromkeys(
        ("basic_ostream", "basic_istream", "basic_iostream", "basic_ios", "basic_streambuf", "basic_filebuf"),
        ("", TRAITS),
    ),
    **dict.fromkeys(
        ("basic_string", "basic_stringstream", "basic_ostringstream", "basic_istringstream", "basic_stringbuf"),
        ("", TRAITS, ALLOCATOR),
    ),
    "unique_ptr": ("", "std::default_delete<{0}>"),
}
INNER: Final = ("std::__cxx11::", "std::__1::", "std::")


@lru_cache(1 << 12)
def with_defaults(name: str, depth: int = 0) -> str:
    """A normal name in which the templates of ``std`` have all their arguments: ``std::vector<int, ...>``."""
    if "<" not in name or len(name) > MAX_LENGTH or depth > MAX_DEPTH:
        return name
    parts = plain_template(name)
    if parts is None:
        return name
    head, given = parts[0], [with_defaults(each, depth + 1) for each in parts[1]]
    prefix = next((each for each in INNER if head.startswith(each)), "")
    known = DEFAULTS.get(head.removeprefix(prefix), ()) if prefix else ()
    if any(not default for default in known[len(given) :]):
        known = ()
    given += [normal_name(default.format(*given)) for default in known[len(given) :]]
    return f"{head}<{', '.join(given)}>"
