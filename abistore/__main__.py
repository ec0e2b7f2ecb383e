"""``python -m abistore``: the command line."""

from abistore.cli.entry import main

main()
