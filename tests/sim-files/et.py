"""Chakra traces as bytes, by hand: what a rank's file holds."""
METADATA, COMPUTE, SEND, RECEIVE, COLLECTIVE = 1, 4, 5, 6, 7
ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 2, 5, 6, 7, 9


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value, kind=None):
    """Numbers as int64 unless told otherwise; text as string."""
    name = field(1, name.encode())
    if isinstance(value, str):
        return name + field(29, value.encode())
    if isinstance(value, list):  # bools
        return name + field(28, field(1, bytes(value)))
    return name + field(kind or 9, value)


def node(number, kind, deps=(), duration=0, callers=(), **attributes):
    out = field(1, number) + field(2, b"node") + field(3, kind)
    if callers:
        out += field(4, b"".join(map(varint, callers)))
    if deps:
        out += field(5, b"".join(map(varint, deps)))
    if duration:
        out += field(7, duration)
    for name, value in attributes.items():
        value = value if isinstance(value, tuple) else (value,)
        out += field(10, attribute(name, *value))
    return out


def trace(*nodes):
    """A whole file: the message about it, then the nodes, each behind its length."""
    messages = (field(1, b"0.0.4"),) + nodes
    return b"".join(varint(len(one)) + one for one in messages)


def send(number, to, size, deps=(), tag=0):
    return node(number, SEND, deps, comm_size=size, comm_dst=to, comm_tag=tag)


def receive(number, source, size, deps=(), tag=0):
    return node(number, RECEIVE, deps, comm_size=size, comm_src=source, comm_tag=tag)


def collective(number, kind, size, deps=(), **attributes):
    return node(number, COLLECTIVE, deps, comm_type=kind, comm_size=size, **attributes)
