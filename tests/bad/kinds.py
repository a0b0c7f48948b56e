#!/usr/bin/env python3
"""Every kind of file into every reader of every verb: what it looks like, and what was expected.

    tests/bad/kinds.py MYRIAD [VERB...]

A reader is an operand or an option that names a file; `myriad commands` lists them all, and one
that the table below lacks is a failure. Each gets a file of every kind. What it takes, or complains
of in its own words, stands in its row; all else must end with exit code 2 and one line, "FILE:1:1:
looks like X; Y is expected" (a hint may follow), and nothing that looks like a secret is shown.
Then the same from standard input, which is called "stdin" by everybody.
"""
import concurrent.futures
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Of each reader one kind in so many, the next reader another one: all kinds and all readers are
# asked. All of it: tests/bad/kinds.py MYRIAD by hand.
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))
TIMEOUT_S = 600
TOKEN = "b8dbd92a45abb47f39d032c334f5c1ede15cc23d098a1e0c"
PEM = ("-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWXXAdUTomlBz"
       "\n-----END PRIVATE KEY-----\n")
SECRETS = (TOKEN[:12], "MIGHAgEAMB", "hunter2")

# Name of a file, its text, and how a complaint calls it. What is made by the program comes below.
TEXTS = {
    "other.json": ('{"colour": "red", "size": 3}', "JSON with the keys 'colour', 'size'"),
    "other.yaml": ("colour: red\nsize: 3\n", "YAML with the keys 'colour', 'size'"),
    "spec.yaml": ("servers: 4\nserver: h100-8gpu\n", "a spec"),
    "parts.yaml": ("switches: {}\n", "a catalogue"),
    "binding.yaml": ("design: lab\ndevices: {}\n", "a binding"),
    "layout.yaml": ("schema: myriad.layout\nversion: 1\nlayout: {tp: 1, dp: 32}\n", "a layout"),
    "model.yaml": ("name: m\nlayers: 2\nhidden: 64\nheads: 2\n", "a model"),
    "config.json": ('{"model_type": "llama", "hidden_size": 64}', "a model"),
    "job.yaml": ("name: a\ngpus: 8\ncommand: echo\n", "a job file"),
    "scenario.yaml": ("cluster: {nodes: 16, gpus_per_node: 8}\nhours: 1\njobs:\n"
                      "  - {count: 2, gpus: {8: 1}, hours: [0.1, 0.2, 0.5]}\n",
                      "a scenario of the twin"),
    "case.yaml": ("seed: 1\nhash: 0123456789abcdef\nscenario: |\n  hours: 1\n",
                  "a case of the twin"),
    "myriad.yaml": ('cluster: "a"\nworld: agents\nnodes: "n-[0-3]"\n', "a server's configuration"),
    "tenants.yaml": ("tenants:\n  a: {weight: 2}\n", "a tree of tenants"),
    "sweep.yaml": ("topology: fat-tree:k=4\nworkload: allreduce:ring,1MB\n",
                   "a sweep of simulations"),
    "profile.yaml": ("constants:\n", "a profile of fit"),
    "recovery.yaml": ("recovery: {}\n", "recovery data"),
    "table.json": ('{"version": 1, "policy": "ecmp", "gpus": 8, "links": 4, "rows": []}',
                        "a table of 'myriad sim contention'"),
    "room.yaml": ("rows: 2\ncolumns: 3\n", "a room"),
    "kubeconfig": ("apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n",
                   "a kubeconfig"),
    "lldp.json": ('{"lldp": {"interface": []}}', "lldpcli's JSON"),
    "errors.txt": ('Errors for "leaf"\n   GUID 0x1 port 1: [x == 1]\n', "ibqueryerrors output"),
    "lfts.txt": ("Unicast lids [0x0-0x9] of switch Lid 1 guid 0x1\n",
                 "forwarding tables of a subnet manager"),
    "page.html": ("<!DOCTYPE html>\n<html><svg/></html>\n", "an HTML page"),
    "list.csv": ("colour,size\nred,3\n", "a CSV list with the header 'colour,size'"),
    "p2p.csv": ("A-Node,A-Port,Z-Node,Z-Port\na,1,b,2\n", "a point-to-point list in CSV"),
    "tabs.csv": ("A-Node;A-Port;Z-Node;Z-Port\n", "a list with ';' or tabs between its columns"),
    "ibstat.txt": ("CA 'mlx5_0'\n\tCA type: MT4129\n", "ibstat output"),
    "paper.pdf": ("%PDF-1.7\n", "a PDF document"),
    "empty": ("", None),
    "admin.token": (TOKEN + "\n", "a token, a key or a certificate"),
    "plain": (TOKEN + "\n", "a token, a key or a certificate"),
    "ca-key.pem": (PEM, "a certificate or a key"),
    "bag.txt": ("Bag Attributes\n" + PEM, "a certificate or a key"),
    "my.key": ("user,hunter2,x\n", "a token, a key or a certificate"),
}


def call(myriad, folder, *words):
    done = subprocess.run([myriad, *map(str, words)], cwd=folder, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        sys.exit(f"myriad {' '.join(map(str, words))}: {done.stderr.decode()}")
    return done.stdout


def samples(myriad, folder):
    names = {}
    for name, (text, words) in TEXTS.items():
        (folder / name).write_text(text)
        names[name] = words
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 4)
    (folder / "utf16.csv").write_bytes("a,b\n".encode("utf-16"))
    with gzip.GzipFile(folder / "spec.yaml.gz", "wb", mtime=0) as out:
        out.write(b"servers: 4\n")
    with zipfile.ZipFile(folder / "list.xlsx", "w") as out:
        out.writestr("xl/workbook.xml", "<workbook/>")
    call(myriad, folder, "plan", "spec.yaml", "--out", "made")
    call(myriad, folder, "plan", ROOT / "examples/compare/roce-1k.yaml", "--out", "roce")
    run = call(myriad, folder, "sim", "--topology", "fat-tree:k=4,gbps=100,delay=1us", "--workload",
               "allreduce:ring,1MB", "--save", "saved.run", "--at", "1us", "-o", "json")
    (folder / "answer.json").write_bytes(run)
    call(myriad, folder, "twin", "run", "scenario.yaml", "--state", "twin.state")
    (folder / "design.myr").write_bytes((folder / "made/design.myr").read_bytes())
    names.update({"noise.bin": "binary data", "utf16.csv": "text in UTF-16",
                  "spec.yaml.gz": "a gzip archive",
                  "list.xlsx": "a ZIP archive or an Excel workbook",
                  "design.myr": "a design.myr", "made/design.json": "a design.json",
                  "made/topology.svg": "an SVG drawing", "made/report.html": "an HTML page",
                  "answer.json": "an answer of Myriad (myriad.sim)",
                  "saved.run": "a saved run of 'myriad sim'",
                  "twin.state": "a saved state of the controller"})
    return names


DOC = {"other.json", "other.yaml"}
CSV = {"list.csv", "p2p.csv"}
SECRET = {"admin.token", "plain", "ca-key.pem", "bag.txt", "my.key"}


class Reader:
    """A slot of a verb: what is expected there, and the files it takes or knows better about."""

    def __init__(self, verb, slot, words, expected, takes, stdin=True):
        self.verb, self.slot, self.words = verb, slot, words.split()
        self.expected, self.takes, self.stdin = expected, takes, stdin


def design(verb, slot, words, **more):
    return Reader(verb, slot, words, "a design.myr", {"design.myr", "noise.bin"}, **more)


def spec(verb, slot, words, **more):
    return Reader(verb, slot, words, "a spec", DOC | {"spec.yaml"}, **more)


def plan(verb, slot, words):
    """A spec, or a design by its ending."""
    return Reader(verb, slot, words, "a spec", DOC | {"spec.yaml", "design.myr"}, stdin=False)


def token(verb, words):
    return Reader(verb, "--token-file", words + " --server http://127.0.0.1:9 --token-file FILE",
                  "a token", SECRET | {"empty"}, stdin=False)


def ask(verb, words=""):
    """A verb that asks a server; what --ca names goes to the TLS library, --dir is a folder."""
    yield token(verb, f"{verb} {words}")


FIT = "--model llama3-8b --gpus 32 --device h100 --batch 32"
BUILT = "output of ibnetdiscover, ibqueryerrors or lldpcli, or a NetBox or point-to-point list,"
BUILT_TAKES = {"p2p.csv", "lldp.json", "errors.txt", "design.myr"} - {"design.myr"}
PORTS = "a list of port names"
HCAS = "a list with the columns port and hca-name"
RUNS = "a CSV list of runs (software, model, hw, gpus, gbs, ..., iter_s)"
STATE = "a CSV list of nodes (node, job, gpus, state)"
FLOWS = "a list of flows (from,to in CSV)"
PRICES = "a price list (CSV: part,price,currency,date)"
SNAPSHOT = "a state as twin run --state writes it"
SIM = "sim --topology fat-tree:k=4,gbps=100,delay=1us --workload allreduce:ring,1MB"
TWO = "a CSV list of two columns, a device first,"


def catalog(verb, words):
    return Reader(verb, "--catalog", words + " --catalog FILE", "a catalogue",
                  DOC | {"parts.yaml", "recovery.yaml"})


def layout(verb, words, slot="--layout"):
    return Reader(verb, slot, words, "a layout", DOC | {"layout.yaml"})


def profile(verb, words):
    return Reader(verb, "--profile", words + " --profile FILE", "a profile of fit",
                  DOC | {"profile.yaml"})


def prices(verb, words):
    return Reader(verb, "--prices", words + " --prices FILE", PRICES, CSV)


def recovery(verb, words):
    return Reader(verb, "--data", words + " --data FILE", "recovery data",
                  DOC | {"recovery.yaml"})


def binding(verb, words):
    return Reader(verb, "--binding", words + " --binding FILE", "a binding",
                  DOC | {"binding.yaml", "list.csv"})


def flows(verb, words, slot="--flows"):
    return Reader(verb, slot, f"{words} {slot} FILE", FLOWS, CSV | {"empty"})


def planning():
    yield spec("plan", "SPEC", "plan FILE")
    yield plan("plan", "--next", "plan spec.yaml --out NEW --next FILE")
    yield catalog("plan", "plan spec.yaml")
    yield prices("plan", "plan spec.yaml")
    audit = "plan audit {} --spec {} --claims {} --layout {}"
    audit_good = ("bom.csv", "spec.yaml", "claims.yaml", "racks.csv")
    for i, (slot, words, takes) in enumerate((
            ("BOM", "a bill of materials (CSV, or a workbook)", CSV | {"list.xlsx"}),
            ("--spec", "a spec", DOC | {"spec.yaml"}),
            ("--claims", "claims (path: value)", DOC | {"spec.yaml", "parts.yaml"}),
            ("--layout", "a layout (CSV: rack,item,count)", CSV))):
        files = list(audit_good)
        files[i] = "FILE"
        yield Reader("plan audit", slot, audit.format(*files), words, takes)
    yield catalog("plan audit", audit.format(*audit_good))
    yield plan("plan grow", "INSTALLED", "plan grow FILE spec.yaml")
    yield plan("plan grow", "LARGER", "plan grow design.myr FILE")
    yield catalog("plan grow", "plan grow spec.yaml spec.yaml")
    yield plan("plan diff", "A", "plan diff FILE spec.yaml")
    yield plan("plan diff", "B", "plan diff spec.yaml FILE")
    yield catalog("plan diff", "plan diff spec.yaml spec.yaml")
    yield prices("plan diff", "plan diff spec.yaml spec.yaml")
    yield spec("plan optimise", "SPEC", "plan optimise FILE")
    yield catalog("plan optimise", "plan optimise spec.yaml")
    yield prices("plan optimise", "plan optimise spec.yaml")
    yield design("design", "DESIGN", "design FILE")
    yield catalog("design", "design design.myr --check")
    yield catalog("catalog", "catalog")
    yield catalog("init spec", "init spec NEW")
    yield plan("explain plan", "PLAN", "explain plan FILE")
    yield plan("explain plan", "--next", "explain plan spec.yaml --next FILE")
    yield prices("explain plan", "explain plan spec.yaml")
    yield catalog("explain plan", "explain plan spec.yaml")


def proving():
    for verb, more in (("route", ""), ("route failover", ""), ("route degraded", ""),
                       ("route blast", "--of leaf/p0-g0-r0"), ("route tables", "--dump lfts.txt"),
                       ("route apply", "--out NEW"),
                       ("path", "")):
        collective = "" if verb in ("route degraded",) else " --permutation 1"
        yield design(verb, "DESIGN", f"{verb} FILE {more}{collective}")
        yield design(verb, "--design", f"{verb} --design FILE {more}{collective}")
        if verb != "route degraded":
            yield flows(verb, f"{verb} design.myr {more}")
    yield Reader("route tables", "--dump", "route tables design.myr --dump FILE",
                 "a dump of forwarding tables (dump_lfts, opensm -U)", {"lfts.txt"})
    yield binding("route tables", "route tables design.myr --dump lfts.txt")
    apply = "route apply design.myr --out NEW --permutation 1"
    roce = "route apply roce/design.myr --out NEW --permutation 1 --for roce"
    yield binding("route apply", apply)
    for slot in ("--seeds", "--order"):
        yield Reader("route apply", slot, f"{roce} {slot} FILE", TWO, CSV)
    yield design("sim", "--design", "sim --workload allreduce:ring,1MB --design FILE")
    yield Reader("sim", "--routes", SIM + " --routes FILE",
                 "a CSV list of routes, as --paths writes it,", CSV)
    yield Reader("sim", "--workload", "sim --design design.myr --workload file:FILE",
                 "a GOAL, HPCC, htsim, SimAI or Chakra file",
                 {"list.csv", "other.yaml", "empty"})
    yield Reader("sim", "--topology", "sim --topology file:FILE --workload allreduce:ring,1MB",
                 "an htsim, HPCC or SimAI topology", {"other.yaml", "empty"})
    yield design("sim contention", "--design", "sim contention --design FILE --out NEW")
    yield Reader("sim resume", "FILE", "sim resume FILE", "a run as sim --save writes it",
                 {"saved.run"})
    yield Reader("sim sweep", "FILE", "sim sweep FILE --out NEW", "a sweep of simulations",
                 DOC | {"sweep.yaml"})
    for slot, files in (("A", "FILE answer.json"), ("B", "answer.json FILE")):
        yield Reader("sim compare", slot, f"sim compare {files}", "an answer of sim (-o json), a "
                     "list of its --fct or the result of a sweep",
                     CSV | {"answer.json", "other.json"})


def training():
    model = "a model, ours or a config.json,"
    for verb, rest in (("fit", "--gpus 32 --device h100 --batch 32"),):
        yield Reader(verb, "--model", f"{verb} --model FILE {rest}", model,
                     DOC | {"model.yaml", "config.json"})
    for verb in ("fit", "fit curve", "fit why", "fit launch"):
        more = {"fit why": " tp=1,dp=32 tp=2,dp=16"}
        words = f"{verb} {FIT}{more.get(verb, '')}"
        yield profile(verb, words)
        yield design(verb, "--design", words.replace(" --device h100", "") + " --design FILE")
    yield layout("fit", f"fit {FIT} --layout FILE")
    yield layout("fit launch", f"fit launch {FIT} --layout FILE")
    yield layout("fit why", f"fit why {FIT} FILE tp=2,dp=16", "A")
    yield layout("fit why", f"fit why {FIT} tp=2,dp=16 FILE", "B")
    yield Reader("fit launch", "--state", "fit launch --model llama3-8b --batch 32 --design "
                 "design.myr --gpus 8 --state FILE", STATE, CSV)
    yield Reader("fit launch", "--hosts", "fit launch --model llama3-8b --batch 32 --design "
                 "design.myr --gpus 8 --hosts FILE", "a list of hosts, one a line,", {"empty"})
    yield Reader("fit validate", "CSV", "fit validate FILE", RUNS, CSV)
    yield profile("fit validate", "fit validate runs.csv")
    yield Reader("fit calibrate", "CSV", "fit calibrate FILE --out NEW", RUNS, CSV)
    yield Reader("fit calibrate", "--kernels", "fit calibrate --kernels FILE --out NEW",
                 "a CSV list of kernels, as 'myriad bench gpu' writes it,", CSV)
    yield profile("fit calibrate", "fit calibrate runs.csv --out NEW")
    yield Reader("fit compare", "--log", f"fit compare {FIT} --log FILE",
                 "the log of a training run", DOC | CSV | {"tabs.csv", "ibstat.txt", "empty"})
    yield profile("fit compare", f"fit compare {FIT} --log run.log")
    yield profile("fit constants", "fit constants")
    yield profile("fit stacks", "fit stacks")
    yield plan("compare", "PLAN", "compare spec.yaml FILE")
    plans = "compare spec.yaml spec.yaml --model llama3-8b --batch 32"
    yield profile("compare", plans)
    yield layout("compare", plans + " --layout FILE")
    yield prices("compare", plans)
    yield catalog("compare", plans)
    good = f"goodput {FIT}"
    yield recovery("goodput", good)
    yield profile("goodput", good)
    yield design("goodput", "--design", good.replace(" --device h100", "") + " --design FILE")
    yield layout("goodput", good + " --layout FILE")
    for verb in ("goodput classes", "goodput parts", "goodput data"):
        yield recovery(verb, verb)


def building():
    yield design("export", "DESIGN", "export p2p FILE --out NEW")
    yield binding("export", "export slurm design.myr --out NEW")
    yield catalog("export", "export p2p design.myr --out NEW")
    yield Reader("export", "--tenants", "export partitions design.myr --out NEW --tenants FILE",
                 "a list with the columns tenant and nodes", CSV)
    for verb, more in (("verify", ""), ("verify orders", " --out NEW"), ("bind", " --out NEW"),
                       ("route found", " --permutation 1")):
        yield design(verb, "DESIGN", f"{verb} FILE p2p.csv{more}")
        yield Reader(verb, "FILE", f"{verb} design.myr FILE{more}", BUILT, BUILT_TAKES)
        yield binding(verb, f"{verb} design.myr p2p.csv{more}")
        if verb != "route found":
            words = f"{verb} design.myr p2p.csv{more}"
            yield Reader(verb, "--hca-map", words + " --hca-map FILE", HCAS, {"list.csv"})
            yield Reader(verb, "--port-names", words + " --port-names FILE", PORTS, {"list.csv"})
    yield flows("route found", "route found design.myr p2p.csv")
    yield Reader("verify orders", "--state", "verify orders design.myr p2p.csv --out NEW --state "
                 "FILE", "what verify orders wrote with --state", CSV | {"empty"}, stdin=False)


def running():
    yield design("sched place", "--design", "sched place --nodes 1 --design FILE")
    yield Reader("sched place", "--state", "sched place --nodes 1 --design design.myr --state FILE",
                 STATE, CSV)
    yield layout("sched place", "sched place --nodes 4 --model llama3-8b --design design.myr "
                 "--layout FILE")
    yield profile("sched place", "sched place --nodes 4 --model llama3-8b --design design.myr "
                  "--layout layout.yaml")
    for verb in ("sched replay", "sched rehearse"):
        yield Reader(verb, "TRACE", f"{verb} FILE --design design.myr",
                     "a trace of jobs (CSV, or as sacct prints it)", CSV | {"tabs.csv"})
        yield design(verb, "--design", f"{verb} jobs.csv --design FILE")
        yield Reader(verb, "--tenants", f"{verb} jobs.csv --design design.myr --tenants FILE",
                     "a tree of tenants", DOC | {"tenants.yaml"})
    for verb in ("twin run", "twin search"):
        yield Reader(verb, "SCENARIO", f"{verb} FILE", "a scenario of the twin",
                     DOC | {"scenario.yaml"})
    yield Reader("twin replay", "CASE", "twin replay FILE", "a case of the twin",
                 DOC | {"case.yaml"})
    yield design("init", "--design", "init NEW --design FILE")
    job = "a job file, with a 'command',"
    server = "submit --server http://127.0.0.1:9"
    yield Reader("submit", "FILE", f"{server} FILE", job, DOC | {"job.yaml"})
    yield layout("submit", f"{server} job.yaml --layout FILE")
    yield Reader("submit", "--kubeconfig", "submit job.yaml --image x --kubeconfig FILE",
                 "a kubeconfig", DOC | {"kubeconfig", "ibstat.txt"}, stdin=False)
    yield Reader("kubernetes schedule", "--kubeconfig", "kubernetes schedule --kubeconfig FILE",
                 "a kubeconfig", DOC | {"kubeconfig", "ibstat.txt"}, stdin=False)
    yield Reader("kubernetes job", "FILE", "kubernetes job FILE --image x", job, DOC | {"job.yaml"})
    yield Reader("whatif", "STATE", "whatif FILE --lose 1", SNAPSHOT, {"twin.state"})
    yield Reader("explain", "STATE", "explain FILE 1", SNAPSHOT, {"twin.state"})
    yield design("design apply", "DESIGN", "design apply FILE --server http://127.0.0.1:9")
    for verb, words in (("design apply", "design.myr"), ("enrol", "a"), ("token new", "--user a"),
                        ("token list", ""), ("token revoke", "1"), ("tenant set", "a --weight 2"),
                        ("submit", "job.yaml"), ("job list", ""), ("job show", "1"),
                        ("job logs", "1"), ("job explain", "1"), ("job cancel", "1"),
                        ("job hold", "1"), ("job release", "1"), ("job top", "1"),
                        ("queue", ""), ("usage", ""), ("node list", ""), ("node show", "a"),
                        ("node drain", "a --reason x"), ("node resume", "a"),
                        ("node revoke", "a"), ("inject", "a crash"), ("whatif", "--lose 1")):
        yield from ask(verb, words)


def readers():
    for part in (planning, proving, training, building, running):
        yield from part()


# Options of paths that are no readers of a user's texts, and why.
WRITTEN = """plan:out
plan_grow:out plan_optimise:out route_apply:out path:svg sim:report sim:heatmap
sim:fct sim:flows sim:paths sim:trace sim:series sim:save sim_contention:out sim_resume:report
sim_resume:heatmap sim_resume:fct sim_resume:flows sim_resume:paths sim_resume:trace
sim_resume:series sim_sweep:out sim_sweep:plot fit:layout-out fit:report fit:plots fit_calibrate:out
fit_launch:out compare:report compare:picture goodput:report bench_gpu:out export:out
verify_orders:out bind:out sched_place:plot sched_replay:schedule sched_replay:plots
sched_replay:report twin_run:save twin_run:state twin_run:report twin_search:save
plan_diff:report""".split()
# Folders, files of other hosts, libraries, what the TLS library reads: nothing of a text is told.
OTHER = """fit_launch:data fit_launch:tokenizer bench_gpu:library
kubernetes_schedule:account init:etcd-ca init:etcd-certificate
init:etcd-key relay:token-file backup:admin-token top:token-file""".split()
ANYWHERE = {"ca", "dir"}
# Operands that are files, by their names in the help.
FILES = re.compile(r"SPEC|BOM|INSTALLED|LARGER|DESIGN|FILE|PLAN|CSV|TRACE|SCENARIO|CASE|STATE"
                   r"|^[AB]$")
NOT_READ = {("init spec", "FILE")}


def missing(myriad, folder, rows):
    """Readers that the program has and the table lacks, and the other way round."""
    known = {(row.verb, row.slot) for row in rows}
    seen = set()
    for command in json.loads(call(myriad, folder, "commands", "-o", "json"))["commands"]:
        verb = command["name"]
        for word in re.findall(r"[A-Z]+", command["operands"] or ""):
            if FILES.search(word) and (verb, word) not in NOT_READ:
                seen.add((verb, word))
        for option in command["options"]:
            slot = f"{verb.replace(' ', '_')}:{option['name']}"
            named = re.search(r"FILE|PATH|DESIGN|SPEC", option["placeholder"] or "")
            if (option["type"] == "path" or named) and option["name"] not in ANYWHERE \
                    and slot not in WRITTEN and slot not in OTHER:
                seen.add((verb, "--" + option["name"]))
    words = ("--model", "--workload", "--topology", "--hca-map")
    by_words = {row for row in known if row[1] in words}
    for verb, slot in sorted(seen - known):
        yield f"{verb} {slot}: reads a file, and is not in the table"
    for verb, slot in sorted(known - seen - by_words):
        yield f"{verb} {slot}: in the table, and not in the program"


def faults(row, name, words, myriad, folder, number, stdin):
    shown = "stdin" if stdin else name
    given = [word.replace("FILE", "-" if stdin else name).replace("NEW", f"new-{number}")
             for word in row.words]
    with open(folder / name, "rb") as text:
        done = subprocess.run([myriad, *given], cwd=folder, timeout=TIMEOUT_S, check=False,
                              capture_output=True,
                              stdin=text if stdin else subprocess.DEVNULL)
    said = done.stderr.decode("utf-8", "surrogateescape")
    for secret in SECRETS:
        if secret in said:
            yield f"a secret is shown: {said!r}"
    if name in row.takes:
        if done.returncode == 2 and re.match(r"myriad: -:", said):
            yield f"standard input is called '-': {said!r}"
        return
    lines = said.splitlines()
    if done.returncode != 2 or done.stdout:
        yield f"exit code {done.returncode}, {len(done.stdout)} bytes printed: {lines[:2]}"
    if not lines or len(lines) > 2 or (len(lines) == 2 and not lines[1].startswith("hint: ")):
        yield f"one line and at most one hint are expected: {lines}"
        return
    # Of several plans the complaint names the one it came up with.
    start = "myriad: " + ("(spec.yaml: )?" if row.verb == "compare" else "") + \
        re.escape(f"{shown}:1:1: ")
    if row.expected == "a token" and words:
        words = re.sub(r" with the .*| [(]myriad.*", "", words)
    wanted = start + "(the file is|.*it is) empty" if words is None else \
        start + re.escape(f"looks like {words}; {row.expected} is expected") + "$"
    if not re.match(wanted, lines[0]):
        yield f"{wanted!r} is expected: {lines[0]}"


def prepare(folder):
    """What other slots need so that the one at hand is what is wrong."""
    (folder / "bom.csv").write_text("part,quantity\nmqm9790-ns2f,2\n")
    (folder / "claims.yaml").write_text("servers: 4\n")
    (folder / "racks.csv").write_text("rack,item,count\nA1,h100-8gpu,1\n")
    (folder / "run.log").write_text("iteration 1\n")
    (folder / "runs.csv").write_bytes((ROOT / "tests/data/own-runs.csv").read_bytes())
    (folder / "jobs.csv").write_bytes((ROOT / "examples/day-of-jobs.csv").read_bytes())


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    myriad, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="myriad-kinds-") as name:
        folder = Path(name)
        prepare(folder)
        names = samples(myriad, folder)
        rows = [row for row in readers() if not wanted or row.verb in wanted]
        for fault in missing(myriad, folder, rows) if not wanted else ():
            failed += 1
            print(fault)
        cases = [(row, name, stdin) for i, row in enumerate(rows)
                 for name in list(names)[i % EVERY::EVERY]
                 for stdin in ((False, True) if row.stdin and name in
                               ("design.myr", "layout.yaml", "other.yaml", "list.csv")
                               else (False,))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = pool.map(lambda n: list(faults(*cases[n][:2], names[cases[n][1]], myriad, folder,
                                                  n, cases[n][2])), range(len(cases)))
            for (row, name, stdin), found in zip(cases, done):
                failed += bool(found)
                for fault in found:
                    print(f"{row.verb} {row.slot} {'< ' if stdin else ''}{name}: {fault}")
    print(f"{len(rows)} readers, {len(names)} kinds of files, {len(cases)} cases, {failed} failed")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
