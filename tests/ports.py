"""Ports for programs that are told theirs before they take it."""

import socket
from contextlib import suppress
from random import SystemRandom


def free_port():
    """Return a port that is free, and that no other test is given.

    It is below those of outgoing connections, and its name is taken until this process ends.
    """
    while True:
        port = SystemRandom().randrange(10_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            name = socket.socket(socket.AF_UNIX)
            try:
                name.bind(f"\0tallybayes-port-{port}")
            except OSError:
                name.close()
                continue
            name.detach()  # stays open
            return port
