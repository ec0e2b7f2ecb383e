"""``python -m abistore``: the command line."""

from abistore.cli.main import main

main()
