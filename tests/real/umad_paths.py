#!/usr/bin/env python3
"""Asks the subnet administrator for the service level of every path, in one process.

Runs under ibsim's preload, as any diagnostic tool: standard input has the LIDs of the hosts and
the LID of the subnet manager first, output has a line "source destination level" a pair. saquery
asks for one pair a call, and ibsim carries no answer of several parts.
"""
import ctypes
import struct
import sys

SUBN_ADM, VERSION, GET, PATH_RECORD = 3, 2, 1, 0x35
BY_LIDS = 1 << 4 | 1 << 5
QKEY = 0x80010000


def request(source, target, serial):
    head = struct.pack(">BBBBHHQHHI", 1, SUBN_ADM, VERSION, GET, 0, 0, serial, PATH_RECORD, 0, 0)
    rmpp = bytes(12)
    admin = struct.pack(">QHHQ", 0, 0, 0, BY_LIDS)
    record = bytes(40) + struct.pack(">HH", target, source)
    return (head + rmpp + admin + record).ljust(256, b"\0")


def main():
    umad = ctypes.CDLL("libibumad.so.3")
    manager, *lids = map(int, sys.stdin.read().split())
    umad.umad_init()
    port = umad.umad_open_port(None, 0)
    agent = umad.umad_register(port, SUBN_ADM, VERSION, 1, None)
    if port < 0 or agent < 0:
        sys.exit(f"no port: {port}, {agent}")
    size = umad.umad_size()
    buffer = ctypes.create_string_buffer(size + 256)
    mad = ctypes.addressof(buffer) + size
    for source in lids:
        for target in lids:
            ctypes.memset(buffer, 0, size + 256)
            ctypes.memmove(mad, request(source, target, source << 16 | target), 256)
            umad.umad_set_addr(buffer, manager, 1, 0, ctypes.c_uint(QKEY))
            if umad.umad_send(port, agent, buffer, 256, 1000, 3):
                sys.exit("cannot send")
            length = ctypes.c_int(256)
            if umad.umad_recv(port, buffer, ctypes.byref(length), 5000) < 0:
                sys.exit("no answer")
            answer = ctypes.string_at(mad, 256)
            status, = struct.unpack(">H", answer[4:6])
            levels, = struct.unpack(">H", answer[56 + 52:56 + 54])
            print(source, target, -1 if status else levels & 15)


main()
