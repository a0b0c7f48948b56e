#!/usr/bin/env python3
"""design.myr, taken apart and put together wrongly: each wrong file is refused, with its reason.

    tests/plan/sections.py MYRIAD

The checksums are made right again after each change, so that what is tested is the check behind
them. A section that this program does not know is skipped, for newer programs may write some.
"""
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

HEADER, ENTRY, ALIGN = struct.Struct("<8sIIQII"), struct.Struct("<8sIIQQII"), 64
OPTIONAL = ("CARDS", "BISECT", "FIGURES", "BOMMORE", "BOMPRICE")
SPEC = "name: s\nservers: 4\nserver: h100-8gpu\n"


def take_apart(image):
    """[tag, version, item bytes, data] of every section."""
    _, version, count, size, table_crc, header_crc = HEADER.unpack_from(image)
    assert version == 1 and size == len(image)
    assert header_crc == zlib.crc32(image[:28])
    assert table_crc == zlib.crc32(image[32:32 + 40 * count])
    sections = []
    for i in range(count):
        tag, version, item, offset, size, crc, _ = ENTRY.unpack_from(image, 32 + 40 * i)
        data = image[offset:offset + size]
        assert crc == zlib.crc32(data) and offset % ALIGN == 0 and size % item == 0
        sections.append([tag, version, item, data])
    return sections


def put_together(sections, version=1, magic=b"MYRIAD\r\n", move=0, dirt=b"", tail=b""):
    """A file with right checksums; 'move' shifts the second section, 'dirt' lies in a gap."""
    offset = -(-(32 + 40 * len(sections)) // ALIGN) * ALIGN
    table, body = b"", b"\0" * (offset - 32 - 40 * len(sections))
    body = dirt + body[len(dirt):]
    for i, (tag, kind, item, data) in enumerate(sections):
        at = offset + (move if i == 1 else 0)
        table += ENTRY.pack(tag, kind, item, at, len(data), zlib.crc32(data) if data else 0, 0)
        padded = data + b"\0" * (-len(data) % ALIGN)
        body, offset = body + padded, offset + len(padded)
    body += tail
    size = 32 + len(table) + len(body)
    head = struct.pack("<8sIIQI", magic, version, len(sections), size, zlib.crc32(table))
    return head + struct.pack("<I", zlib.crc32(head)) + table + body


def cases(sections):
    """(what, file, what the complaint says, or None for a good file)"""
    tags = [row[0].rstrip(b"\0").decode() for row in sections]
    yield "as it was", put_together(sections), None
    newer = [b"NEWER\0\0\0", 9, 3, b"abcdef"]
    yield "an unknown section", put_together([*sections, newer]), None
    yield "an unknown section in front", put_together([newer, *sections]), None
    for i, tag in enumerate(tags):
        others = sections[:i] + sections[i + 1:]
        # Designs of older programs lack these, and are read.
        missing = None if tag in OPTIONAL else "a section is missing"
        yield f"without {tag}", put_together(others), missing
        yield f"{tag} twice", put_together([*sections, sections[i]]), "a section comes twice"
        tag_bytes, version, item, data = sections[i]
        yield f"{tag} of version 2", put_together(
            [*sections[:i], [tag_bytes, 2, item, data], *sections[i + 1:]]), "another version"
        yield f"{tag} of other items", put_together(
            [*sections[:i], [tag_bytes, version, item + 1, data], *sections[i + 1:]]), \
            "items of another size"
        if item > 1:
            yield f"{tag} with half an item", put_together(
                [*sections[:i], [tag_bytes, version, item, data + b"\0"], *sections[i + 1:]]), \
                "items of another size"
        if tag in ("HEAD", "NETWORKS", "DEVTYPE", "DEVPORT", "DEVRACK", "PORTLINK", "LINKB",
                   "LINKCABL", "CABLLINK"):
            yield f"{tag} with an item more", put_together(
                [*sections[:i], [tag_bytes, version, item, data + b"\0" * item],
                 *sections[i + 1:]]), "two sections disagree about a count"
    yield "version 2", put_together(sections, version=2), "version 2, this program reads version 1"
    yield "other magic", put_together(sections, magic=b"MYRIAD\n\n"), ""
    yield "not aligned", put_together(sections, move=8), "outside the file or over another"
    yield "over another", put_together(sections, move=-ALIGN), "outside the file or over another"
    yield "beyond the end", put_together(sections, move=1 << 40), "outside the file or over another"
    yield "dirt between", put_together([*sections, newer], dirt=b"x"), "between its sections"
    yield "dirt behind", put_together(sections, tail=b"x" * ALIGN), "behind its sections"
    good = put_together(sections)
    yield "cut off", good[:-1], "cut off or has grown"
    yield "grown", good + b"\0", "cut off or has grown"
    yield "one bit of the header", good[:24] + bytes([good[24] ^ 1]) + good[25:], \
        "header's checksum is wrong"
    yield "one bit of the table", good[:70] + bytes([good[70] ^ 1]) + good[71:], \
        "checksum of its table"
    last = len(good) - 200
    yield "one bit of a section", good[:last] + bytes([good[last] ^ 1]) + good[last + 1:], ""
    many = put_together([[b"X%06d\0" % i, 1, 1, b""] for i in range(257)])
    yield "257 sections", many, "table of sections does not fit"
    head = struct.pack("<8sIIQI", b"MYRIAD\r\n", 1, 200, 64, 0)
    yield "a table beyond the end", head + struct.pack("<I", zlib.crc32(head)) + b"\0" * 32, \
        "table of sections does not fit"


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        spec, path = Path(folder) / "s.yaml", Path(folder) / "d.myr"
        spec.write_text(SPEC, encoding="utf-8")
        subprocess.run([sys.argv[1], "plan", str(spec), "--out", folder], check=True,
                       capture_output=True, timeout=600)
        image = (Path(folder) / "design.myr").read_bytes()
        sections = take_apart(image)
        if put_together(sections) != image:
            print("the file is not what its sections make")
            failed += 1
        for what, text, says in cases(sections):
            count += 1
            path.write_bytes(text)
            done = subprocess.run([sys.argv[1], "design", str(path)], capture_output=True,
                                  text=True, timeout=600, check=False)
            status = 0 if says is None else 2
            if done.returncode != status or (says or "") not in done.stderr:
                print(f"{what}: exit status {done.returncode}: {done.stderr.strip()}")
                failed += 1
    print(f"{count} files")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
