#!/usr/bin/env python3
"""InfiniBand as it really behaves: ibsim, OpenSM and the diagnostic tools on exported fabrics."""
from parts import Ibsim, expect, main, note, plan, re, run, time

H100_256 = """\
name: h100-256
servers: 256
server: h100-8gpu
networks:
  compute: {switch: mqm9790-ns2f}
"""

FABRICS = [("h100-64", 512, 24), (H100_256, 2048, 96)]


def export(myriad, scratch, design, form):
    out = scratch.path / scratch.unique(form)
    run(myriad, "export", form, design, "--out", out)
    return out


def bring_up(myriad, scratch):
    """OpenSM brings the exported fabrics up with ftree and with updn, and all of it is there."""
    for spec, nics, switches in FABRICS:
        design = plan(myriad, scratch, spec, re.search(r"h100-\d+", spec).group())
        guids = export(myriad, scratch, design, "opensm")
        fabric = Ibsim(scratch, export(myriad, scratch, design, "ibsim"))
        roots = ["-a", guids / "root_guids.txt", "-u", guids / "cn_guids.txt"]
        for engine in ("ftree", "updn"):
            start = time.monotonic()
            fabric.opensm(engine, *roots)
            note(f"{nics} NICs: {engine} up in {time.monotonic() - start:.1f} s, no errors")
        seen = fabric.tool("ibnetdiscover", "--node-name-map", guids / "node-name-map")
        found = [len(re.findall(rf"^{kind}\s", seen, re.M)) for kind in ("Ca", "Switch")]
        expect(found == [nics, switches], f"discovered {found} NICs and switches")
        speeds = set(re.findall(r" (\d+x\w+)$", seen, re.M))
        expect(speeds == {"4xHDR"}, f"link speeds {speeds}")
        fabric.scratch.stop(fabric.process)


main({"bring-up": bring_up})
