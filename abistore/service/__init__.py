"""The verbs of abistore: the one place that joins extracting, storing, comparing and reporting.

The command line and every other front end parse their arguments, call one of these functions and render the result.
Nothing here prints. What a user can do wrong raises :class:`abistore.errors.AbistoreError`.

==================  ================================================================================================
module              verbs
==================  ================================================================================================
``snapshots``       ``capture`` a file
``ingesting``       ``ingest`` files as releases, behind a gate
``transfer``        ``export`` a stored snapshot, ``import_`` JSON snapshots
``judging``         ``compare`` two operands, ``judge`` two snapshots
``ruling``          ``ruling``: a policy with suppressions, read from files
``filtering``       ``show_only`` some changes of a report
``suppressing``     ``suggest`` suppressions, ``suppressions`` of files, ``policy_card``
``verdicts``        ``verdict`` about a stored release
``listing``         ``lines``, ``releases``
``history``         ``history`` of a library, ``log`` of a declaration
``declarations``    ``card`` of a snapshot, ``declarations`` by name
``baselines``       ``set_baseline``, ``clear_baseline``, ``baselines``, ``baseline_history``
``catalogue``       ``changes``, ``explain`` a kind of change
``administration``  ``db_init`` and its siblings
==================  ================================================================================================
"""
