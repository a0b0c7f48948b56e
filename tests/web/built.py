#!/usr/bin/env python3
"""web/dist is what web/src gives, is small, and runs under a strict policy.

What can be seen in the files is looked at everywhere. Building again needs npm and its packages:
where they cannot be had, that part is skipped (exit 77) and says why.
"""
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WEB = pathlib.Path(__file__).resolve().parent.parent.parent / "web"
SIZE_MAX = 80_000
SKIPPED = 77
OFFLINE = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|"
                     r"ENOTCACHED|network|ERR_SOCKET_TIMEOUT")


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def faults_of_files(built):
    """What is wrong with the built page as it lies there."""
    size = sum(len(gzip.compress(data, 9)) for data in built.values())
    print(f"web/dist: {len(built)} files, {size} bytes when compressed, {SIZE_MAX} are allowed")
    if size > SIZE_MAX:
        yield f"{size} bytes when compressed"
    for name in ("index.html", "assets/app.js", "assets/app.css", "assets/licences.txt"):
        if name not in built:
            yield f"no {name}"
    page = built.get("index.html", b"").decode()
    # The policy is default-src 'self': nothing inline, nothing from elsewhere.
    if re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", page):
        yield "index.html holds script or style"
    for address in re.findall(r"(?:src|href)=\"?([^\s\">]+)", page):
        if not address.startswith("/assets/") or address[1:] not in built:
            yield f"index.html asks for {address}"
    style = built.get("assets/app.css", b"").decode()
    if re.search(r"url\(|@import", style):
        yield "app.css asks for something"
    script = built.get("assets/app.js", b"").decode()
    for word in ("eval(", "new Function(", "document.write("):
        if word in script:
            yield f"app.js holds {word}"
    sources = "".join(path.read_text() for path in sorted(WEB.glob("src/*.ts*")))
    for word in ("innerHTML", "outerHTML", "dangerouslySetInnerHTML", "insertAdjacentHTML"):
        if word in sources:
            yield f"the sources use {word}: names from users are text"


def faults_of_lock():
    """The lock file holds for whatever registry its reader uses."""
    text = (WEB / "package-lock.json").read_text()
    if '"resolved"' in text:
        yield "package-lock.json names where packages come from"
    for name, package in json.loads(text)["packages"].items():
        if name and "integrity" not in package:
            yield f"package-lock.json: no digest for {name}"


def build_again(folder):
    """The page built from a copy of its sources; None and the reason where that cannot be done."""
    if not shutil.which("npm"):
        return None, "npm is not installed"
    copy = pathlib.Path(folder) / "web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (copy.parent / "docs").mkdir()
    shutil.copy(WEB.parent / "docs/openapi.json", copy.parent / "docs")  # its types come from there
    done = subprocess.run([copy / "build"], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = done.stdout + done.stderr
        if "npm" in said and OFFLINE.search(said) and "error TS" not in said:
            return None, "npm reaches no packages: " + OFFLINE.search(said).group()
        raise SystemExit(f"web/build: exit {done.returncode}\n{said[-3000:]}")
    return files(copy / "dist"), ""


def main():
    kept = files(WEB / "dist")
    faults = [*faults_of_files(kept), *faults_of_lock()]
    for fault in faults:
        print(f"FAIL {fault}")
    if faults:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        made, why = build_again(folder)
    if made is None:
        print(f"skipped: not built again, {why}")
        return SKIPPED
    different = sorted(name for name in kept.keys() | made.keys()
                       if kept.get(name) != made.get(name))
    for name in different:
        print(f"FAIL web/dist/{name} is not what the sources give (make web)")
    print(f"{len(made)} files built again, {len(different)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
