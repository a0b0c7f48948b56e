#!/usr/bin/env python3
"""What the program exports it must read back as planned: every example, every network of it and
every format of cables that verify reads, as a folder with all that was exported. Nothing is chosen
by hand but the size: examples of more servers than LIMIT take too long.

usage: exported.py MYRIAD
"""
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 2000
NETS = ['compute', 'storage', 'service', 'oob']
FORMATS = ['p2p', 'netbox', 'dot', 'ibnetdiscover', 'ibsim']
ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)


def specs():
    for path in sorted((ROOT / 'examples').glob('*.yaml')):
        text = path.read_text(encoding='utf-8')
        servers = re.search(r'^servers: *(\d+)', text, re.M)
        if not servers or int(servers[1]) <= LIMIT:
            yield path


def round_trip(myriad, design, net, form, folder):
    """None where the format is not for this network; else the answer of verify."""
    out = folder / f'{form}-{net}'
    out.mkdir()
    made = run(myriad, 'export', form, design, '--net', net, '--out', out)
    if made.returncode:
        assert form in ('ibnetdiscover', 'ibsim'), f'{form} --net {net}: {made.stderr}'
        assert 'InfiniBand' in made.stderr or 'holds one network' in made.stderr, made.stderr
        return None
    speeds = ['--speed-map', 'HDR=400'] if form == 'ibsim' else []
    return run(myriad, 'verify', design, out, '--net', net, *speeds)


def check(myriad, spec, folder):
    told = run(myriad, 'plan', spec, '--out', folder / 'plan')
    assert told.returncode == 0, f'{spec.name}: {told.stderr}'
    design = folder / 'plan' / 'design.myr'
    faults, count = [], 0
    for net in NETS + ['all']:
        probe = run(myriad, 'export', 'p2p', design, '--net', net)
        if 'has no' in probe.stderr:
            continue
        assert probe.returncode == 0, probe.stderr
        for form in FORMATS:
            found = round_trip(myriad, design, net, form, folder)
            if found is None:
                continue
            count += 1
            if found.returncode:
                text = '\n'.join((found.stdout + found.stderr).splitlines()[:12])
                faults.append(f'{spec.name} {form} --net {net}: exit {found.returncode}\n{text}')
    return faults, count


def main():
    myriad, total, faults = sys.argv[1], 0, []
    for spec in specs():
        with tempfile.TemporaryDirectory() as name:
            more, count = check(myriad, spec, pathlib.Path(name))
            faults += more
            total += count
            print(f'{spec.name}: {count} exports, {len(more)} not as planned', flush=True)
    for fault in faults:
        print(fault)
    print(f'{total} exports verified, {len(faults)} not as planned')
    return 1 if faults or total < 20 else 0


if __name__ == '__main__':
    sys.exit(main())
