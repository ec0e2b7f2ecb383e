"""The MCP server: agents ask the history by the verbs of :mod:`abistore.interface`, as the command line does.

A call goes through these rooms, each of which knows those above it::

    settings                     what the server was started with
    refusals, questions          how a call is refused; what a person decides before one writes
    answers/                     pages, cursors, units, and the parts that many answers have
    call                         what the body of a tool may use: settings, store, comparisons kept
    operands, lines, handles     what arguments mean: files and references, lines, comparisons
    exports                      where files may be written
    tools/, resources/           one function each: arguments in, an answer or a text out
    completions, prompts/        words for arguments; what people start
    watching                     what addresses say now, for those who subscribed to them
    jobs/                        the processes in which bodies run, killed when a call takes too long
    serving/                     the SDK's server: every call, reading, error and line of the log
    server                       all of it as one server
    transports/                  standard input and output, or HTTP with tokens
    setup/                       what helps people to set it up

Only ``serving/``, ``server``, ``transports/`` and ``setup/`` import the SDK: bodies run without it.
"""
