#!/usr/bin/env python3
"""The pictures of the documents are what the program draws now (docs/pictures/make draws them).

    tests/docs/pictures.py MYRIAD
"""
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

PICTURES = Path(__file__).resolve().parent.parent.parent / "docs" / "pictures"


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PICTURES / "make", sys.argv[1], folder], check=True)
        drawn = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    kept = {path.name: path.read_bytes() for path in PICTURES.glob("*.svg")}
    faults += [f"{name} is not in docs/pictures" for name in drawn.keys() - kept.keys()]
    faults += [f"nothing draws docs/pictures/{name}" for name in kept.keys() - drawn.keys()]
    for name in sorted(drawn.keys() & kept.keys()):
        xml.etree.ElementTree.fromstring(drawn[name])
        if drawn[name] != kept[name]:
            faults.append(f"docs/pictures/{name} is not what the program draws; "
                          "docs/pictures/make build/bin/myriad draws it anew")
    print("\n".join([*faults, f"{len(drawn)} pictures, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
