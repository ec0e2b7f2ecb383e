"""The MCP server: agents ask the history by the verbs of :mod:`abistore.interface`, as the command line does.

A call goes through these rooms, each of which knows those above it::

    settings, refusals        what the server was started with; how a call is refused
    answers/                  pages, cursors, units, and the parts that many answers have
    call                      what the body of a tool may use: settings, store, comparisons kept
    tools/                    one function a tool: arguments in, an answer out
    jobs/                     the child process in which bodies run, and which is killed when a call takes too long
    schemas                   input and output schemas, from the functions' signatures and the types of answers
    audit, envelope           the line in the log; errors as clients get them
    resources/, prompts/      what is read by URI, and what people start
    server                    all of it as one server of the SDK

Only ``server``, ``schemas`` and what they say of the protocol import the SDK: bodies run without it.
"""
