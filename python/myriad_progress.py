"""Tells Myriad how far a rank is: which step it has made, and up to which step it has saved.

    from myriad_progress import progress
    progress(step, saved=last_checkpoint, phase="train")

One datagram, never blocks, and does nothing where MYRIAD_PROGRESS is not set. Call it once a step
from any rank, best from all. `phase` is one word.
"""
import os
import socket

_socket = None


def progress(step, saved=None, phase=None):
    global _socket
    path = os.environ.get("MYRIAD_PROGRESS")
    if not path:
        return
    text = f"step {int(step)}"
    if saved is not None:
        text += f" saved {int(saved)}"
    if phase:
        text += f" phase {phase}"
    try:
        if _socket is None:
            _socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            _socket.setblocking(False)
        _socket.sendto(text.encode(), path)
    except OSError:
        pass  # training goes on, whoever listens or not
