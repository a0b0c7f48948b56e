#!/usr/bin/env python3
"""Every kind of file into every reader: one line that says what it looks like, exit code 2.

    tests/verify/kinds.py MYRIAD

A reader that takes the kind is left out; one for which the text could be its own (unknown text)
complains in its own words. All others say "looks like X; Y is expected".
"""
import gzip
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
import kinds_other
from wiring import ROOT, call

TIMEOUT_S = 600
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # make test asks one in so many
EXPORTS = {"fabric.topo": "ibnetdiscover", "p2p.csv": "p2p"}


SITE = {"ports.txt": "ib400-ib-lines/ports.txt", "links.txt": "ib400-iblinkinfo/links.txt",
        "net_dump": "ib400-net-dump/ibdiagnet2.net_dump", "lst": "ib400-lst/ibdiagnet2.lst",
        "ufm.json": "ib400-ufm-nvos/ufm.json", "netq.json": "eth800-netq/netq.json",
        "topology.dot": "eth800-ptm/topology.dot", "export.csv": "eth800-netbox-export/export.csv",
        "leaf.txt": "eth800-sonic-table/lldp/leaf-p0-g0-r0.txt"}


def samples(myriad, folder):
    """Name of the file, and how a complaint about it calls it."""
    call(myriad, "plan", ROOT / "tests/real/lab.yaml", "--catalog",
         ROOT / "tests/real/lab-parts.yaml", "--out", folder / "lab")
    design = folder / "lab/design.myr"
    for name, form in EXPORTS.items():
        call(myriad, "export", form, design, "--out", folder / name)
    call(myriad, "export", "netbox", design, "--out", folder / "netbox")
    (folder / "lldp.json").write_text('{"lldp": {"interface": []}}')
    (folder / "other.json").write_text('{"colour": "red", "size": 3}')
    (folder / "other.yaml").write_text("colour: red\nsize: 3\n")
    (folder / "binding.yaml").write_text("design: lab\ndevices: {}\n")
    (folder / "errors.txt").write_text('Errors for "leaf"\n   GUID 0x1 port 1: [x == 1]\n')
    (folder / "lfts.txt").write_text("Unicast lids [0x0-0x9] of switch Lid 1 guid 0x1\n")
    site = ROOT / "tests/data/site"
    for name, source in SITE.items():
        (folder / name).write_text((site / source).read_text())
    (folder / "page.html").write_text("<!DOCTYPE html>\n<html></html>\n")
    (folder / "spec.yaml").write_bytes((ROOT / "examples/h100-64.yaml").read_bytes())
    (folder / "parts.yaml").write_bytes((ROOT / "tests/real/lab-parts.yaml").read_bytes())
    (folder / "excel.csv").write_bytes("A-Node,Z-Node\n".encode("utf-16"))
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 4)
    (folder / "empty").write_bytes(b"")
    with gzip.GzipFile(folder / "spec.yaml.gz", "wb", mtime=0) as out:
        out.write(b"servers: 4\n")
    with zipfile.ZipFile(folder / "list.xlsx", "w") as out:
        out.writestr("xl/workbook.xml", "<workbook/>")
    return {
        "lab/design.myr": "a design.myr",
        "lab/design.json": "a design.json",
        "lab/topology.svg": "an SVG drawing",
        "lab/bom.csv": "a CSV list with the header 'system,name,part,",
        "lab/cables.csv": "a CSV list with the header 'cable,link,network,",
        "fabric.topo": "ibnetdiscover output",
        "p2p.csv": "a point-to-point list in CSV",
        "netbox/cables.csv": "a NetBox cable list in CSV",
        "lldp.json": "lldpcli's JSON",
        "other.json": "JSON with the keys 'colour', 'size'",
        "other.yaml": "YAML with the keys 'colour', 'size'",
        "spec.yaml": "a spec",
        "parts.yaml": "a catalogue",
        "binding.yaml": "a binding",
        "errors.txt": "ibqueryerrors output",
        "lfts.txt": "forwarding tables of a subnet manager",
        "page.html": "an HTML page",
        "excel.csv": "text in UTF-16",
        "noise.bin": "binary data",
        "spec.yaml.gz": "a gzip archive",
        "list.xlsx": "a ZIP archive or an Excel workbook",
        "empty": None,
        "ports.txt": "output of 'ibnetdiscover -p'",
        "links.txt": "iblinkinfo output",
        "net_dump": "ibdiagnet output",
        "lst": "ibdiagnet output",
        "ufm.json": "links of UFM or NetQ as JSON",
        "netq.json": "links of UFM or NetQ as JSON",
        "topology.dot": "a graph in dot",
        "leaf.txt": "SONiC's 'show lldp table'",
        "export.csv": "a NetBox cable list in CSV",
    }


DOC = {"other.json", "other.yaml"}
LISTS = {"lab/bom.csv", "lab/cables.csv"}
BUILT = "output of ibnetdiscover, ibqueryerrors or lldpcli, or a NetBox or point-to-point list,"


def readers():
    """Arguments with FILE, what is expected there, and the files that the reader takes itself."""
    verify = ["verify", "lab/design.myr"]
    yield ["plan", "FILE"], "a spec", {"spec.yaml"} | DOC
    yield ["plan", "spec.yaml", "--catalog", "FILE"], "a catalogue", {"parts.yaml"} | DOC
    yield ["catalog", "--catalog", "FILE"], "a catalogue", {"parts.yaml"} | DOC
    yield ["design", "FILE"], "a design.myr", {"lab/design.myr", "noise.bin"}
    yield ["export", "p2p", "FILE"], "a design.myr", {"lab/design.myr", "noise.bin"}
    yield ["verify", "FILE", "p2p.csv"], "a design.myr", {"lab/design.myr", "noise.bin"}
    yield [*verify, "FILE"], BUILT, {"fabric.topo", "p2p.csv", "netbox/cables.csv", "lldp.json",
                                     "errors.txt"} | SITE.keys()
    yield [*verify, "--from", "ibnetdiscover-p", "FILE"], "output of 'ibnetdiscover -p'", \
        {"ports.txt"}
    yield [*verify, "--from", "iblinkinfo", "FILE"], "iblinkinfo output", {"links.txt"}
    yield [*verify, "--from", "ibdiagnet", "FILE"], \
        "ibdiagnet2.net_dump, .lst, .cables or a .topo", {"net_dump", "lst"}
    yield [*verify, "--from", "links-json", "FILE"], "UFM's or NetQ's links as JSON", \
        {"ufm.json", "netq.json", "other.json"}
    yield [*verify, "--from", "sonic-lldp", "FILE"], "SONiC's 'show lldp table'", {"leaf.txt"}
    yield [*verify, "--from", "ptm", "FILE"], "a topology.dot of PTM", {"topology.dot"}
    yield [*verify, "p2p.csv", "--port-names", "FILE"], "a list of port names", LISTS
    yield [*verify, "p2p.csv", "--hca-map", "FILE"], "a list with the columns port and hca-name", \
        LISTS
    yield [*verify, "--from", "ibnetdiscover", "FILE"], "ibnetdiscover output", {"fabric.topo"}
    yield [*verify, "--from", "ibqueryerrors", "FILE"], "ibqueryerrors output", {"errors.txt"}
    yield [*verify, "--from", "lldp", "FILE"], "the JSON of 'lldpcli -f json show neighbors'", \
        {"lldp.json", "other.json"}
    yield [*verify, "--from", "netbox", "FILE"], "a NetBox cable list", \
        {"netbox/cables.csv", "export.csv"} | LISTS
    yield [*verify, "--from", "p2p", "FILE"], "a point-to-point list", {"p2p.csv"} | LISTS
    yield [*verify, "p2p.csv", "--binding", "FILE"], "a binding", \
        {"binding.yaml"} | DOC | LISTS
    yield ["route", "tables", "lab/design.myr", "--dump", "FILE"], \
        "a dump of forwarding tables (dump_lfts, opensm -U)", {"lfts.txt"}


def faults(done, name, words, expected):
    lines = done.stderr.decode("utf-8", "surrogateescape").splitlines()
    if done.returncode != 2 or done.stdout:
        yield f"exit code {done.returncode}, {len(done.stdout)} bytes printed, {lines[:1]}"
    if not lines or len(lines) > 2 or (len(lines) == 2 and not lines[1].startswith("hint: ")):
        yield f"one line and at most one hint are expected: {lines}"
        return
    if words is None:
        wanted = re.escape(f"myriad: {name}:1:1: ") + "(the file is|.*it is) empty"
    else:
        wanted = re.escape(f"myriad: {name}:1:1: looks like {words}") + ".*; " + \
            re.escape(f"{expected} is expected") + "$"
    if not re.match(wanted, lines[0]):
        yield f"{wanted!r} is expected: {lines[0]}"


def run_others(myriad, folder):
    """Others' files into the reader that guesses, and into one other in turn."""
    kinds = {**kinds_other.TEXTS, **kinds_other.BYTES}
    strict = [(a, e) for a, e, _ in readers() if "--from" in a]
    for number, (name, (content, words)) in enumerate(kinds.items()):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(folder / name, mode) as file:
            file.write(content)
        guessing = ["verify", "lab/design.myr", "FILE"], BUILT
        for arguments, expected in (guessing, strict[number % len(strict)]):
            command = [myriad, *(name if word == "FILE" else word for word in arguments)]
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False,
                                  timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
            yield arguments, name, list(faults(done, name, words, expected))


def main():
    myriad = os.path.abspath(sys.argv[1])
    failed = count = 0
    with tempfile.TemporaryDirectory(prefix="myriad-kinds-") as folder:
        kinds = samples(myriad, Path(folder))
        for turn, (arguments, expected, own) in enumerate(readers()):
            assert own <= kinds.keys(), own - kinds.keys()
            for number, (name, words) in enumerate(kinds.items(), turn):
                if number % EVERY and name not in own:
                    continue
                command = [myriad, *(name if word == "FILE" else word for word in arguments)]
                done = subprocess.run(command, cwd=folder, capture_output=True, check=False,
                                      timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
                if name in own:
                    complaints = ["a crash"] if done.returncode not in (0, 1, 2) else []
                else:
                    complaints = list(faults(done, name, words, expected))
                count += 1
                failed += bool(complaints)
                for complaint in complaints:
                    print(f"{' '.join(arguments)} < {name}: {complaint}")
        for arguments, name, complaints in run_others(myriad, Path(folder)):
            count += 1
            failed += bool(complaints)
            for complaint in complaints:
                print(f"{' '.join(arguments)} < {name}: {complaint}")
    print(f"{count} cases, {failed} failed")
    sys.exit(1 if failed or count < 200 // EVERY else 0)


if __name__ == "__main__":
    main()
