"""The command line over a store with three releases, for readers of former answers."""

from tests.cli.conftest import abistore as abistore
from tests.cli.conftest import added as added
from tests.cli.conftest import clean_environment as clean_environment
from tests.cli.conftest import database as database
from tests.cli.conftest import fill as fill
from tests.cli.conftest import new as new
from tests.cli.conftest import of_three as of_three
from tests.cli.conftest import old as old
from tests.cli.conftest import stored as stored
