"""What each special case of the judging is worth: right answers that appear or disappear without it.

Each yes/no predicate is replaced by ``never`` (always no) and by ``always`` (always yes), each kind of change by
``never`` (its rule finds nothing), one at a time, and the kept pairs are compared again. There is no ``always`` for a
kind: a finding has a subject, values and affected exports, and no constant has those of every declaration.
"""
