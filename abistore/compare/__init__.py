"""Two snapshots in, a judged comparison out.

Each room imports only from those before it:

1. ``parts``: what deltas are about that the model has no shape for;
2. ``reuse``: what is kept from one release for the next;
3. ``types``: how far two types are the same, and what is known of one;
4. ``consumers``: what programs that use the library can name, see and allocate;
5. ``side``, ``context``, ``rule``: one release, two releases, and what a rule is;
6. ``diff``: what differs, without a judgement;
7. ``classify``: what kind of difference it is;
8. ``rules``: the findings that each kind of difference makes;
9. ``judge``: findings, and which of them follow from others;
10. ``policies``: rulings, which move impacts and take findings out of the verdict;
11. ``comparison``: all of this for two releases, and ``incremental`` for one release after the other;
12. ``established``: the field's names for the kinds of changes.
"""
