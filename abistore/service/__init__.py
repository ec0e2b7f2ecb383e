"""The verbs of abistore: the one place that joins extracting, storing, comparing and reporting.

The command line, and every other front end, parses its words, calls one of these functions and renders the result.
Nothing here prints. Everything raises :class:`abistore.errors.AbistoreError` for what a user can meet.

==================  ================================================================================================
module              verbs
==================  ================================================================================================
``snapshots``       ``capture`` a file
``ingesting``       ``ingest`` files as releases, judged on their way in
``transfer``        ``export`` a stored snapshot, ``import_`` JSON snapshots
``judging``         ``compare`` two operands, ``judge`` two snapshots
``ruling``          ``ruling``: the policy and the suppressions that a call judges by
``filtering``       ``show_only`` some changes of a report
``suppressing``     ``suggest`` suppressions, ``listed`` ones, ``policy_card``
``verdicts``        ``verdict`` about a stored release
``listing``         ``lines``, ``releases``
``history``         ``history`` of a library, ``log`` of a declaration
``declarations``    ``card`` of a snapshot, ``declarations`` by name
``baselines``       ``set_baseline``, ``clear_baseline``, ``baselines``, ``baseline_history``
``catalogue``       ``changes``, ``explain`` a kind of change
``administration``  ``db_init`` and its siblings
==================  ================================================================================================
"""
