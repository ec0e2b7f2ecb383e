"""Stands for a started command: `python -IS call.py SOCKET WORD...`. It imports little, for it starts each time."""

import os
import signal
import socket
import sys

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.connect(sys.argv[1])
    words = [os.fsencode(word) for word in sys.argv[2:]]
    environment = [name + b"=" + value for name, value in os.environb.items()]
    data = b"\0".join([str(len(words)).encode(), *words, *environment])
    folder = os.open(".", os.O_RDONLY)
    socket.send_fds(channel, [len(data).to_bytes(8, "big")], [0, 1, 2, folder])
    channel.sendall(data)
    for number in FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: channel.sendall(bytes([number])))
    status = int.from_bytes(channel.recv(8), "big", signed=True)
    if status < 0:
        if -status in FORWARDED:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
