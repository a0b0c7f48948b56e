#!/usr/bin/env python3
"""Documents that are written of tables, and whether they are what the tables say now.

    tests/docs/described.py DESCRIBE             compares; DESCRIBE is build/myriad-describe
    tests/docs/described.py DESCRIBE --update    writes them anew; read the diff

docs/openapi.json is the interface; docs/server.md has the keys of a job file between marks; schemas
of answers that the command takes over from a server have its objects; web/src/said.d.ts is made of
docs/openapi.json by web/build, and says of which.
"""
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEYS = re.compile(r"(<!-- keys of a job file: [^\n]* -->\n).*?(<!-- end -->)", re.S)
HEAD = "| key | default | is |\n|---|---|---|\n"
# The list of an answer of the command whose items are a server's objects.
ROWS = {"job.list": ("jobs", "said_job"), "node.list": ("nodes", "said_node"),
        "queue": ("queue", "said_waiting"), "usage": ("tenants", "said_share"),
        "token.list": ("tokens", "said_token"), "token.revoke": ("tokens", "said_token"),
        "token.new": ("tokens", "said_secret"), "enrol": ("tokens", "said_secret"),
        "tenant.set": ("tenants", "said_tenant"), "inject": ("faults", "said_fault"),
        **{f"job.{verb}": ("jobs", "said_job_whole")
           for verb in ("show", "cancel", "hold", "release", "top")},
        **{f"node.{verb}": ("nodes", "said_node_whole")
           for verb in ("show", "drain", "resume", "revoke")}}


def spelled_out(schemas, node):
    """A schema without references."""
    if isinstance(node, list):
        return [spelled_out(schemas, child) for child in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = schemas[node["$ref"].split("/")[-1]]
        return spelled_out(schemas, {**target, **{key: value for key, value in node.items()
                                                  if key != "$ref"}})
    whole = {key: spelled_out(schemas, child) for key, child in node.items()}
    if node.get("type") == "object":  # the command may be newer than the server, or older
        whole.setdefault("additionalProperties", True)
    return whole


def documents(program):
    """Name and text of each, as they should be."""
    def say(what):
        return subprocess.run([program, what], check=True, capture_output=True, text=True).stdout
    interface = say("openapi")
    yield "docs/openapi.json", interface
    page = (ROOT / "docs/server.md").read_text()
    yield "docs/server.md", KEYS.sub(lambda found: found[1] + HEAD + say("job") + found[2], page)
    schemas = json.loads(interface)["components"]["schemas"]
    for verb, (key, record) in ROWS.items():
        name = f"docs/schema/myriad.{verb}.json"
        tree = json.loads((ROOT / name).read_text())
        tree["properties"][key]["items"] = spelled_out(schemas, schemas[record])
        yield name, json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    stale = []
    for name, text in documents(sys.argv[1]):
        if (ROOT / name).exists() and (ROOT / name).read_text() == text:
            continue
        stale.append(name)
        if "--update" in sys.argv:
            (ROOT / name).write_text(text)
    digest = hashlib.sha256((ROOT / "docs/openapi.json").read_bytes()).hexdigest()
    types = ROOT / "web/src/said.d.ts"
    if digest not in (types.read_text() if types.exists() else ""):
        stale.append("web/src/said.d.ts (make web)")
    for name in stale:
        print(f"{name}: not what the tables say")
    if stale:
        print("tests/docs/described.py build/myriad-describe --update, and read the diff")
    return 1 if stale and "--update" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
