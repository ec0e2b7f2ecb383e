"""An oracle of breaks: random pieces of libraries, of each of which compilers themselves say whether an edit breaks it.

A *piece* is a handful of declarations and their definitions, all of whose names begin alike. It is drawn at random,
changed by one random edit, and kept where both sides compile. The pieces of a seed make one library.

What breaks is never worked out here: a program that is compiled with each side's header prints sizes, offsets,
positions of bit-fields, slots of virtual functions and types, and ``nm`` tells the exported symbols. An edit breaks
where a fact that programs are compiled with is not as it was (:mod:`benchmarks.oracle.facts` has the exceptions).

abistore is asked in four ways: of GCC's debug information, of Clang's, of GCC's with headers, and of a stripped library
with headers. It is wrong where the worst that it says of a piece is a break and the oracle knows none, or the reverse.
"""
