"""The command line without its start: a process that has imported it is copied for each call.

A command that starts and imports what it needs takes 0.1 to 0.3 seconds of processor time; a copied one, 0.04 to 0.08.
`call` is a program that stands for ``python -m abistore``: it hands its words, environment,
folder and files to `parent`, which forks a copy of itself that goes on as a started command would, and `call` ends as
the copy ends. `starting` gives the command to use. Where the start itself is under test, or limits, terminals, the
interpreter's hash seed, or how a process stands among others, a test starts Python itself.
"""
