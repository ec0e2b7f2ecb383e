"""Compilers at hand, asked within limits: in a folder of their own, for a bounded time, in bounded memory."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, Literal, NamedTuple

from abistore.model.snapshot import ANY_MACHINE, Target, usual_machine

Language = Literal["c", "c++"]

SUFFIX: Final[Mapping[Language, str]] = {"c": ".c", "c++": ".cpp"}
_NAMES: Final[Mapping[Language, tuple[str, ...]]] = {"c": ("gcc", "clang", "cc"), "c++": ("g++", "clang++", "c++")}

SECONDS: Final = 20
"""Of processor time that one command may take, and twice as many on the clock."""

MEMORY: Final = 2 << 30
"""Bytes of address space of one command."""

FILE: Final = 64 << 20
"""Bytes of a file that a command may write."""

MOST_READ: Final = 1 << 20
"""Bytes of what a command wrote that are read."""

MOST_SAID: Final = 400
"""Characters of a message that are kept."""


class Compiler(NamedTuple):
    """A compiler: the command that starts it, and its version as it says it."""

    command: str
    version: str


class CommandResult(NamedTuple):
    """Whether a command did what it was to do, what it printed, and its first error.

    ``faults`` are the first error of a compiler for each line of the source, and for what is no line of it under 0.
    """

    succeeded: bool
    printed: str = ""
    error: str = ""
    faults: Mapping[int, str] = {}


CROSS: Final[Mapping[str, str]] = {
    **{"x86_64": "x86_64-linux-gnu", "i386": "i686-linux-gnu", "aarch64": "aarch64-linux-gnu"},
    **{"arm": "arm-linux-gnueabihf", "riscv64": "riscv64-linux-gnu", "s390x": "s390x-linux-gnu"},
    **{"ppc64le": "powerpc64le-linux-gnu"},
}
"""How the names of compilers for other machines begin."""


@cache
def compiler(language: Language, target: Target | None = None) -> Compiler | None:
    """The first compiler of a language that is installed, for a target; ``None`` where there is none."""
    for name in _names(language, target):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False)
            return Compiler(name, said.stdout.partition("\n")[0])
    return None


def command_of(language: Language, target: Target | None = None) -> str:
    """What people type to compile."""
    found = compiler(language, target)
    return found.command if found else {"c": "cc", "c++": "c++"}[language]


def _names(language: Language, target: Target | None) -> tuple[str, ...]:
    if target is None or target.machine == ANY_MACHINE or is_native(target):
        return _NAMES[language]
    prefix = CROSS.get(target.machine) if target.format == "elf" else None
    return (f"{prefix}-{_NAMES[language][0]}",) if prefix else ()


def is_native(target: Target) -> bool:
    """Whether programs for a target start on this machine."""
    here = os.uname()
    return target.format == "elf" and here.sysname == "Linux" and target.machine == usual_machine(here.machine)


OF_THE_SYSTEM: Final = (
    *("/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/lib/", "/opt/", "/nix/store/"),
    *(f"/usr/{each}/" for each in CROSS.values()),
)
"""Folders of compilers and of the C library: headers may include what is below them."""

OUTSIDE: Final = "a header includes a file outside of the folders of headers"


class Workshop:
    """A temporary folder in which programs are compiled, linked and loaded."""

    def __init__(self, folder: Path, target: Target | None = None) -> None:
        self.folder = folder.resolve()
        self._target = target

    def write(self, files: Mapping[str, str]) -> None:
        """Put files into the folder, by their relative names."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def compile(self, source: str, made: str, flags: Iterable[str], language: Language) -> CommandResult:
        """Compile one file of the folder to an object file, or to assembly where that is what ``made`` is named as.

        Without a name, the compiler only says what is wrong. No compiler is no success, without an error.
        """
        found = compiler(language, self._target)
        if found is None:
            return CommandResult(False)
        given = list(flags)
        stage = ["-S" if made.endswith(".s") else "-c", "-o", made] if made else ["-fsyntax-only"]
        done = self._run([found.command, *stage, "-H", *given, source], whole=True)
        roots = [str(Path(place[1]).resolve()) for each in given if (place := _FOLDER.match(each))]
        if not all(self._may_include(each, roots) for each in _INCLUDED.findall(done.error)):
            return CommandResult(False, error=OUTSIDE, faults={0: OUTSIDE})
        if done.succeeded:
            return done._replace(error="")
        return done._replace(error=first_error(done.error), faults=faults(done.error, source))

    def _may_include(self, name: str, roots: Sequence[str]) -> bool:
        path = str((self.folder / name).resolve())
        allowed = (*OF_THE_SYSTEM, f"{self.folder}/", *(f"{each}/" for each in roots))
        return path.startswith(allowed)

    def link(
        self, parts: Sequence[str | Path], made: str, language: Language, flags: Iterable[str] = ()
    ) -> CommandResult:
        """Link a program of object files and libraries."""
        found = compiler(language, self._target)
        if found is None:
            return CommandResult(False)
        return self._run([found.command, *flags, *map(str, parts), "-o", made])

    def resolve(self, program: str, libraries: Path) -> CommandResult:
        """Have the dynamic linker look up all that a program asks for, without starting anything."""
        asked = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "1", "LD_BIND_NOW": "1"}
        done = self._run([f"./{program}"], {**asked, "LD_LIBRARY_PATH": str(libraries)})
        troubles = [line.strip() for line in f"{done.printed}\n{done.error}".splitlines() if _TROUBLE.search(line)]
        error = "; ".join(dict.fromkeys(troubles)) or done.error
        return CommandResult(not troubles and done.succeeded, error=_shown(error))

    def start(self, program: str, libraries: Path) -> CommandResult:
        """Start a program with the libraries of a folder, without a network: their constructors run."""
        return self._run(
            [f"./{program}"], {"LD_BIND_NOW": "1", "LD_LIBRARY_PATH": str(libraries)}, hold=_hold_without_network
        )

    def _run(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        whole: bool = False,
        hold: Callable[[], None] | None = None,
    ) -> CommandResult:
        """What a command did; with ``whole``, all that it wrote to standard error stands for its error.

        What it writes goes to files, which the limit of file sizes bounds.
        """
        clean = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TMPDIR": str(self.folder)}
        with TemporaryFile() as printed, TemporaryFile() as said:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**clean, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=said,
                start_new_session=True,
                preexec_fn=hold or _hold,
            )
            try:
                process.wait(timeout=2 * SECONDS)
            except subprocess.TimeoutExpired:
                return CommandResult(False, _text(printed), f"no answer within {2 * SECONDS} seconds")
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # and what it left running
                process.wait()
            code, error = process.returncode, _text(said)
            if code and not whole:
                error = first_error(error) or _ended(code)
            return CommandResult(code == 0, _text(printed), error)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_READ).decode(errors="replace")


def _ended(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _hold() -> None:
    for kind, most in (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""Flags of unshare(2)."""


@cache
def _unshare() -> Callable[[int], int]:
    import ctypes  # few programs are started

    found: Callable[[int], int] = ctypes.CDLL(None).unshare
    return found


def _hold_without_network() -> None:
    """Raise :class:`OSError` where the system gives no network namespace."""
    unshare = _unshare()
    if unshare(_NEW_NETWORK) and unshare(_NEW_USER | _NEW_NETWORK):
        raise OSError("no network namespace")
    _hold()


@cache
def obstacle() -> str:
    """Why no program can be started here without a network; empty if one can."""
    if not sys.platform.startswith("linux"):
        return "programs are started on Linux only"
    _unshare()  # before any process is forked: a library is not to be loaded in its copy
    try:
        subprocess.run(["true"], preexec_fn=_hold_without_network, check=True)
    except (OSError, subprocess.SubprocessError):
        return "the system starts no program without a network: it allows no network namespace"
    return ""


_TROUBLE = re.compile(
    r"not found|undefined symbol|no version information|symbol lookup error|cannot open|different size"
)
_INCLUDED = re.compile(r"^\.+ (.+)$", re.MULTILINE)
_FOLDER = re.compile(r"-(?:isystem|iquote|idirafter|I)(.+)")
_FAULT = re.compile(r"(?:fatal )?error: .*")
_ERROR = re.compile(r"(?:fatal )?error: .*|undefined reference to .*|undefined symbol: .*|version `.*")


def first_error(said: str) -> str:
    """The first error of a compiler or linker, without the lines of files that it shows."""
    for line in said.splitlines():
        if found := _ERROR.search(line):
            return _shown(found[0])
    return _shown(next((line for line in said.splitlines() if line.strip()), ""))


def faults(said: str, source: str) -> dict[int, str]:
    """The first error of each line of a source. One in a header counts for the line that required it, else for 0."""
    found: dict[int, str] = {}
    required, elsewhere = 0, ""
    own = re.compile(rf"{re.escape(source)}:(\d+)")
    for line in said.splitlines():
        place = own.match(line)
        if error := _FAULT.search(line):
            if elsewhere:
                found.setdefault(0, elsewhere)
            number, required, elsewhere = (int(place[1]) if place else required), 0, ""
            if number:
                found.setdefault(number, _shown(error[0]))
            else:
                elsewhere = _shown(error[0])
        elif place and "required from" in line:
            required = int(place[1])
        elif place and elsewhere and "in expansion of macro" in line:
            found.setdefault(int(place[1]), elsewhere)
            elsewhere = ""
    if elsewhere or not found:
        found.setdefault(0, elsewhere or first_error(said))
    return found


def _shown(text: str) -> str:
    """A message without the folders in it."""
    return re.sub(r"(?:/[^\s/:'`]+)+/", "", text)[:MOST_SAID]
