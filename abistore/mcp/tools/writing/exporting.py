"""``abi_dump`` of a server that writes files: the same, and into a file."""

from __future__ import annotations

from typing import Annotated

import msgspec

from abistore.mcp.call import Call
from abistore.mcp.exports import check_export, write_new
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.dumping import DumpAnswer, dump_answer, read_library
from abistore.mcp.tools.parameters import Folders, Headers, Language, Only, described


@tool(writes=True)
def abi_dump(
    call: Call,
    *,
    library_path: Annotated[str, described("Absolute path of a shared library or JSON snapshot")],
    headers: Headers = None,
    include_dirs: Folders = None,
    version: Annotated[str, described("Label as a string")] = "unknown",
    language: Language = None,
    inline: Annotated[bool, described("Send the snapshot, if short")] = False,
    only: Only = "",
    output_path: Annotated[str | None, described("Write it to this new .json file, below the export root")] = None,
) -> DumpAnswer:
    """Read one library and tell what its ABI has: functions, variables, types, and how much could be seen.

    Nothing is stored. With output_path the snapshot is written to a new file; a file that is there stays as it is.
    """
    if output_path is not None:
        check_export(call.settings, output_path)  # before the work
    read = read_library(call, library_path, headers, include_dirs, (version, language, only))
    answer = dump_answer(read, inline=inline and output_path is None)
    if output_path is None:
        return answer
    write_new(call.settings, output_path, read.made.json)
    name = output_path.rpartition("/")[2]
    return msgspec.structs.replace(answer, output_path=name, headline=f"WRITTEN: {name}: {answer.headline}")
