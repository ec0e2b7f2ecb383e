"""Two snapshots in, a judged comparison out.

Each room imports only from those before it:

1. ``reuse``, ``differing``: what is kept from one release for the next, and which names differ between two;
2. ``types``: how far two types are the same, and what is known of one;
3. ``consumers``: what programs that use the library can name, see and allocate;
4. ``side``, ``context``, ``rule``: one release, two releases, and what a rule is;
5. ``diff``: what differs, without a judgement;
6. ``classify``: what kind of difference it is;
7. ``rules``: the findings that each kind of difference makes;
8. ``policies``: rulings, which move impacts and take findings out of the verdict;
9. ``judge``: findings, which of them follow from others, and the verdict; for two releases, or one after the other;
10. ``comparison``: all of this for two releases;
11. ``established``: the field's names for the kinds of changes.
"""
