"""The protocol between agent and controller, written from the comments of include/myriad/wire: a
second implementation, so that a mistake in the first one shows."""
import struct
import zlib

HEAD = struct.Struct("<HBBIIIQI")
MAGIC = 0x594D
VERSION = 1
NO_NODE = 0xFFFFFFFF
U32, U64, I64, TEXT, LIST = range(5)
SCHEMA = 2

TYPES = ("hello schema inventory beat silent back step exit symptom started stopped tested start "
         "stop test lease welcome refused ack fetch output enrol cert").split()
NUMBER = {name: i + 1 for i, name in enumerate(TYPES)}
RESULT = [("job", U64), ("code", U32), ("text", TEXT)]
# A field's number is its place here, from 1.
FIELDS = {
    "hello": [("name", TEXT), ("version_min", U32), ("boot", U64)],
    "inventory": [("host", TEXT), ("gpu_kind", TEXT), ("serial", TEXT), ("gpus", U32),
                  ("cpus", U32), ("memory_bytes", U64), ("details", TEXT)],
    "beat": [("time_ns", I64)],
    "step": [("job", U64), ("step", U64), ("duration_ns", I64), ("saved_step", U64)],
    "exit": [("job", U64), ("rank", U32), ("code", U32), ("signal", U32), ("line", TEXT)],
    "symptom": [("id", TEXT), ("gpu", U32), ("port", U32), ("count", U64), ("text", TEXT)],
    "started": RESULT, "stopped": RESULT, "tested": RESULT,
    "start": [("job", U64), ("first_rank", U32), ("world", U32), ("gpus", U64), ("nodes", LIST),
              ("spec", TEXT), ("master", TEXT), ("user", TEXT), ("lease_s", U32),
              ("node_rank", U32), ("node_count", U32)],
    "stop": [("job", U64), ("grace_s", U32)],
    "test": [("id", U64), ("name", TEXT)],
    "lease": [],
    "welcome": [("node", U32), ("boot", U32), ("beat_ms", U32), ("pretend", U32)],
    "refused": [("code", U32), ("text", TEXT)],
    "ack": [("sequence", U64)],
    "fetch": [("job", U64), ("offset", U64), ("rank", U32), ("bytes", U32)],
    "output": [("job", U64), ("offset", U64), ("size", U64), ("rank", U32), ("ended", U32),
               ("data", TEXT)],
    "enrol": [("token", TEXT), ("csr", TEXT)],
    "cert": [("certificate", TEXT), ("ca", TEXT)],
}
# In the order of the fields' numbers where that is not the order of the struct.
SCALAR = {U32: struct.Struct("<I"), U64: struct.Struct("<Q"), I64: struct.Struct("<q")}


def frame(kind, payload, node=NO_NODE, epoch=0, sequence=0):
    head = HEAD.pack(MAGIC, VERSION, kind, len(payload), node, epoch, sequence, 0)[:24]
    return head + struct.pack("<I", zlib.crc32(payload, zlib.crc32(head))) + payload


class Message(dict):
    """The fields by name, with those of the head as attributes."""

    def __init__(self, kind, node, epoch, sequence):
        super().__init__()
        self.kind, self.node, self.epoch, self.sequence = kind, node, epoch, sequence

    def __repr__(self):
        return f"{self.kind}(epoch {self.epoch}, {dict(self)})"


class Sender:
    def __init__(self):
        self.told, self.sequence = set(), 0

    def encode(self, name, head_node, head_epoch, values):
        values = dict(values)
        out, fields = b"", FIELDS[name]
        if name not in self.told:
            self.told.add(name)
            payload = struct.pack("<BH", NUMBER[name], len(fields))
            for number, (_, kind) in enumerate(fields, 1):
                payload += struct.pack("<HB", number, kind)
            out += frame(SCHEMA, payload)
        payload = b""
        for field, kind in fields:
            value = values.pop(field, "" if kind == TEXT else [] if kind == LIST else 0)
            if kind == TEXT:
                value = value.encode() if isinstance(value, str) else value
                payload += struct.pack("<I", len(value)) + value
            elif kind == LIST:
                payload += struct.pack(f"<I{len(value)}I", len(value), *value)
            else:
                payload += SCALAR[kind].pack(value)
        assert not values, f"{name} has no {values}"
        self.sequence += 1
        return out + frame(NUMBER[name], payload, head_node, head_epoch, self.sequence)


class Receiver:
    def __init__(self):
        self.bytes, self.schemas = b"", {}

    def feed(self, data):
        self.bytes += data

    def next(self):
        """The next message, or None."""
        while len(self.bytes) >= HEAD.size:
            magic, version, kind, length, node, epoch, sequence, crc = HEAD.unpack_from(self.bytes)
            assert magic == MAGIC and version == VERSION and length <= 1 << 20, "no frame"
            if len(self.bytes) < HEAD.size + length:
                return None
            payload = self.bytes[HEAD.size:HEAD.size + length]
            assert crc == zlib.crc32(payload, zlib.crc32(self.bytes[:24])), "checksum"
            self.bytes = self.bytes[HEAD.size + length:]
            if kind == SCHEMA:
                self.keep(payload)
            else:
                return self.read(kind, payload, Message(TYPES[kind - 1], node, epoch, sequence))
        return None

    def keep(self, payload):
        kind, count = struct.unpack_from("<BH", payload)
        assert len(payload) == 3 + 3 * count
        self.schemas[kind] = [struct.unpack_from("<HB", payload, 3 + 3 * i) for i in range(count)]

    def read(self, kind, payload, message):
        at, names = 0, FIELDS[message.kind]
        for number, what in self.schemas[kind]:
            if what in (TEXT, LIST):
                count = struct.unpack_from("<I", payload, at)[0]
                size = count if what == TEXT else count * 4
                value = payload[at + 4:at + 4 + size]
                assert len(value) == size, "cut"
                at += 4 + size
            else:
                value = SCALAR[what].unpack_from(payload, at)[0]
                at += SCALAR[what].size
            if number <= len(names):
                message[names[number - 1][0]] = value
        assert at == len(payload), "bytes left over"
        return message
