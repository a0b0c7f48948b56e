"""A plain multi-process program that knows nothing of Myriad: ranks meet where the variables say
and add up a number. Rank 0 collects, sums and hands back; every rank checks the sum."""
import os
import socket
import struct
import sys
import time

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
meeting = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
assert rank % int(os.environ["LOCAL_WORLD_SIZE"]) == int(os.environ["LOCAL_RANK"])


def exactly(peer, size):
    data = b""
    while len(data) < size:
        piece = peer.recv(size - len(data))
        assert piece, "a rank has left"
        data += piece
    return data


if rank == 0:
    listener = socket.create_server(meeting)
    listener.settimeout(60)
    peers = [listener.accept()[0] for _ in range(world - 1)]
    total = 1 + sum(struct.unpack("<Q", exactly(peer, 8))[0] for peer in peers)
    for peer in peers:
        peer.sendall(struct.pack("<Q", total))
else:
    for _ in range(600):
        try:
            peer = socket.create_connection(meeting, timeout=60)
            break
        except OSError:
            time.sleep(0.1)
    peer.sendall(struct.pack("<Q", rank + 1))
    total = struct.unpack("<Q", exactly(peer, 8))[0]
assert total == world * (world + 1) // 2, total
print(f"rank {rank}: {total}", flush=True)
sys.exit(0)
