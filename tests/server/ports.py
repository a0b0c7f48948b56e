"""Ports that belong to one test until its process ends.

Those that the system gives to connections may be taken by any of them between the look and the
use, and what is given up for a moment (a daemon that is killed and started again) may be lost: so
they lie below, and each block of them is held by a name in the same network namespace.
"""
import os
import pathlib
import socket

BLOCK = 20
FIRST = 10000
HELD = []  # sockets: closed with the process, never handed to its children


def below_connections():
    """The first port that connections may have: the end of ours."""
    try:
        words = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
        return max(int(words[0]), FIRST + 200 * BLOCK)
    except (OSError, ValueError, IndexError):
        return 32768


def hold(block):
    """Is it ours now?"""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0myriad-test-ports-{block}")
    except OSError:
        name.close()
        return None
    return name


def nobody_listens(first, count):
    for port in range(first, first + count):
        with socket.socket() as probe:
            try:
                probe.bind(("0.0.0.0", port))
            except OSError:
                return False
    return True


def free_ports(count=1):
    """The first of so many neighbours that nobody else has, or will be given."""
    blocks = (below_connections() - FIRST) // BLOCK
    need = -(-count // BLOCK)
    for step in range(blocks):
        at = (os.getpid() * 7 + step) % blocks
        if at + need > blocks:
            continue
        names = [hold(block) for block in range(at, at + need)]
        if all(names) and nobody_listens(FIRST + at * BLOCK, count):
            HELD.extend(names)
            return FIRST + at * BLOCK
        for name in names:
            if name:
                name.close()
    raise OSError(f"no {count} free ports between {FIRST} and {FIRST + blocks * BLOCK}")
