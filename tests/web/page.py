#!/usr/bin/env python3
"""Drives the page in headless Chromium as a person would, and holds what it shows against what the
API says.

    tests/web/page.py [--url URL --token TOKEN] [--shots FOLDER]

Without --url it starts tests/web/stub.mjs; with it the same is asked of a running server, whose
cluster must be alive (a twin, say). --shots leaves pictures of every view.
"""
import argparse
import json
import pathlib
import shutil
import sys
import time

from chrome import Chrome
from server import Api, Proxy, Stub

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT_S = 240
VIEWS = ["#/", "#/jobs", "#/queue", "#/nodes", "#/events"]

# The picture against a frame fetched now. Colours come from the style sheet, places from the list
# of nodes and the five numbers that the canvas gives: no code of the page takes part.
PIXELS = """(async () => {
  const canvas = document.querySelector("canvas.pixels");
  const answer = await fetch("/v1/frame");
  const states = new Uint8Array(await answer.arrayBuffer());
  const nodes = (await (await fetch("/v1/nodes")).json()).nodes.sort((a, b) => a.id - b.id);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  if (canvas.dataset.seq !== answer.headers.get("X-Myriad-Seq")) return null;
  const data = canvas.dataset;
  const [columns, rows, gpus, block] =
    [data.columns, data.rows, data.gpus, data.block].map(Number);
  const style = getComputedStyle(document.documentElement);
  const color = (name) => {
    const value = parseInt(style.getPropertyValue(name).trim().slice(1), 16);
    return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
  };
  const palette = [...Array(10).keys()].map((state) => color("--s" + state));
  const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const leaves = new Map(), used = new Set(), wrong = [], lit = [];
  nodes.forEach((node, place) => {
    const members = leaves.get(node.leaf) ?? leaves.set(node.leaf, []).get(node.leaf);
    members.push(place);
    const leaf = [...leaves.keys()].indexOf(node.leaf), row = members.length - 1;
    for (let gpu = 0; gpu < gpus; gpu++) {
      const x = (leaf % columns) * block + Math.floor(row / rows) * (gpus + 1) + gpu;
      const y = Math.floor(leaf / columns) * (rows + 1) + row % rows;
      const at = 4 * (y * canvas.width + x);
      used.add(at);
      const expected = palette[states[place * gpus + gpu]];
      const bright = expected.every((value, channel) => image[at + channel] === value);
      if (bright) lit.push(place * gpus + gpu);
      else wrong.push([node.name, gpu, states[place * gpus + gpu],
                       [...image.slice(at, at + 4)].join()].join(" "));
    }
  });
  let stray = 0;
  for (let at = 0; at < image.length; at += 4) if (image[at + 3] && !used.has(at)) stray++;
  return {gpus: states.length, wrong: wrong.length, first: wrong.slice(0, 5), stray, lit,
          states: [...states], names: nodes.map((node) => node.name), perNode: gpus};
})()"""

TRUTH = """Object.fromEntries(["running", "waiting", "busy", "gpus", "out", "nodes"].map((id) =>
  [id, Number(document.getElementById(id).textContent.replace(/,/g, ""))]))"""


class Test:
    def __init__(self, chrome, proxy, api, shots):
        self.chrome, self.proxy, self.api, self.shots = chrome, proxy, api, shots
        self.checks, self.faults, self.notes = 0, [], []

    def expect(self, holds, what):
        self.checks += 1
        if not holds:
            self.faults.append(what)
            print(f"FAIL {what}", flush=True)
        return holds

    def go(self, address):
        self.chrome.run(f"void (location.hash = {json.dumps(address)})")

    def until(self, probe, what):
        """The cluster moves while it is looked at: asks until both sides speak of one moment."""
        until = time.monotonic() + LIMIT_S
        while (found := probe()) is not True and time.monotonic() < until:
            time.sleep(0.1)
        self.expect(found is True, f"{what}: {found}")

    def pixels(self):
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            found = self.chrome.run(PIXELS)
            if found:
                return found
            time.sleep(0.05)
        raise SystemExit("the map never showed the frame that the server sends")

    # --- the checks, in the order in which they are run

    def sign_in(self, token):
        page = self.chrome
        page.call("Page.navigate", url=self.proxy.url + "/")
        page.wait("document.activeElement?.id === 'token'", "the field for the token, with focus")
        page.call("Input.insertText", text="wrong-" + token)
        page.key("Enter")
        page.wait("document.querySelector('#refused')?.textContent", "a wrong token is told")
        self.expect(page.run("!document.querySelector('canvas')"), "a wrong token shows nothing")
        page.run("document.querySelector('#token').select()")
        page.call("Input.insertText", text=token)
        page.key("Enter")
        page.wait("!!document.querySelector('canvas.pixels')?.dataset.seq", "the map")
        self.expect(page.run("document.cookie") == "", "no script can read the cookie")
        self.expect(page.run("!JSON.stringify({...localStorage, ...sessionStorage})"
                             f".includes({json.dumps(token)})"), "the token is stored nowhere")
        self.expect(token not in page.run("document.documentElement.outerHTML + location.href"),
                    "nor shown")

    def picture(self):
        found = self.pixels()
        self.expect(found["wrong"] == 0 and found["stray"] == 0,
                    f"{found['wrong']} of {found['gpus']} GPUs have the wrong pixel, "
                    f"{found['stray']} pixels belong to none: {found['first']}")
        self.expect(len(found["lit"]) == found["gpus"] == self.api.get("/v1/cluster")["gpus"],
                    "every GPU has its pixel")
        over = self.chrome.run("(() => { const box = document.querySelector('.scroller'); return "
                               "[box.scrollWidth - box.clientWidth, box.scrollHeight - "
                               "box.clientHeight]; })()")
        self.expect(over == [0, 0], f"the map fits its frame: {over}")

    def legend_lights(self):
        """A press on a state in the legend lights its GPUs alone."""
        press = "document.querySelector('.legend li:nth-child(3) button').click()"
        self.chrome.run(press)
        self.expect(self.chrome.run("document.querySelectorAll('[aria-pressed=true]').length") == 1,
                    "the state is pressed")

        def probe():
            found = self.pixels()
            busy = [at for at, state in enumerate(found["states"]) if state == 2]
            return bool(busy) and found["lit"] == busy or f"{len(found['lit'])} of {len(busy)}"
        self.until(probe, "busy GPUs alone are lit")
        self.chrome.run(press)

    def counts(self):
        def probe():
            says, has = self.api.get("/v1/cluster"), self.chrome.run(TRUTH)
            wanted = {"running": says["job_states"].get("running", 0),
                      "waiting": says["job_states"].get("queued", 0), "busy": says["gpus_busy"],
                      "gpus": says["gpus"], "nodes": says["nodes"],
                      "out": says["nodes"] - says["node_states"].get("healthy", 0)}
            return has == wanted or f"{has} is shown, {wanted} is true"
        self.until(probe, "one line of truth")
        says = self.api.get("/v1/cluster")
        for name, value in (("cluster", says["name"]), ("version", says["version"])):
            self.expect(self.chrome.run(f"document.getElementById('{name}').textContent") == value,
                        f"{name} is shown")
        self.expect(self.chrome.run("document.getElementById('world').textContent")
                    .startswith(says["world"]), "world is shown")
        legend = """(async () => {
          const answer = await fetch("/v1/frame");
          const sums = Array(10).fill(0);
          for (const state of new Uint8Array(await answer.arrayBuffer())) sums[state]++;
          const canvas = document.querySelector("canvas.pixels");
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          if (canvas.dataset.seq !== answer.headers.get("X-Myriad-Seq")) return "other moment";
          const shown = [...document.querySelectorAll("[data-state]")].map((one) =>
            Number(one.textContent.replace(/,/g, "")));
          return shown.join() === sums.join() || shown + " is shown, " + sums + " is true";
        })()"""
        self.until(lambda: self.chrome.run(legend), "legend")
        letters = self.chrome.run("[...document.querySelectorAll('.legend .swatch')]"
                                  ".map((one) => one.textContent)")
        self.expect(len(set(letters)) == 10 and all(letters), f"a letter for each state: {letters}")

    def table_behind(self):
        page = self.chrome
        page.run("document.querySelector('.behind summary').click()")
        page.wait("!!document.querySelector('.behind tbody tr')", "the table behind the picture")
        sums = """(() => { const cells = [...document.querySelectorAll('.behind tbody tr')].map(
          (row) => [...row.querySelectorAll('td.right')].map((one) => Number(one.textContent)));
          return [cells.reduce((sum, row) => sum + row[0], 0),
                  cells.reduce((sum, row) => sum + row.slice(1).reduce((a, b) => a + b), 0)];
        })()"""
        says = self.api.get("/v1/cluster")
        self.expect(page.run(sums) == [says["nodes"], says["gpus"]], "it has every node and GPU")
        page.run("document.querySelector('.behind summary').click()")

    def markup(self):
        """Names are text: shown letter by letter, and nothing of them becomes an element."""
        jobs = [job for job in self.api.get("/v1/jobs")["jobs"] if "<" in job["name"]]
        if not jobs:
            self.notes.append("no job's name holds markup")
            return
        self.go("#/jobs")
        self.chrome.wait("!!document.querySelector('table tbody tr')", "the jobs")
        for address, name in ((f"#/jobs/{jobs[0]['id']}", jobs[0]["name"]),
                              ("#/jobs", jobs[0]["name"]), ("#/nodes", None)):
            self.go(address)
            if address == "#/nodes":
                marked = [one["name"] for one in self.api.get("/v1/nodes")["nodes"]
                          if "<" in one["name"]]
                name = marked[0] if marked else None
            if name:
                self.chrome.wait(f"document.body.innerText.includes({json.dumps(name)})",
                                 f"{name} as text in {address}")
                self.checks += 1
            self.expect(self.chrome.run("document.querySelectorAll('img, script:not([src]), i, "
                                        "u, iframe').length") == 0, f"no markup in {address}")

    def lists(self):
        """Every row of the API is a row of the page."""
        def ids(path, key):
            return sorted(row["id"] for row in self.api.get(path)[key])
        for address, path, key, column in (("#/jobs", "/v1/jobs", "jobs", 1),
                                           ("#/queue", "/v1/queue", "queue", 2)):
            self.go(address)
            self.chrome.wait("!!document.querySelector('table, .empty')", address)
            rows = (f"[...document.querySelectorAll('tbody tr td:nth-child({column})')]"
                    ".map((one) => Number(one.textContent)).sort((a, b) => a - b)")

            def probe():
                before, shown, after = ids(path, key), self.chrome.run(rows), ids(path, key)
                return shown in (before, after) or f"{shown} is shown, {after} is true"
            self.until(probe, address)
        waiting = self.api.get("/v1/queue")["queue"]
        if waiting:
            self.chrome.wait("document.querySelector('tbody td:last-child').textContent.length > 0",
                             "the reason of the first in the queue")
        self.go("#/nodes")
        self.chrome.wait("!!document.querySelector('tbody tr')", "the nodes")
        total = self.chrome.run("document.querySelector('table').ariaRowCount")
        self.expect(int(total) == self.api.get("/v1/cluster")["nodes"], f"{total} nodes are listed")

    def click_job(self, job_id):
        """The cluster runs on: a row may have moved between the look and the click."""
        link = f"document.querySelector('td a[href=\"#/jobs/{job_id}\"]')"
        for _ in range(20):
            self.go("#/jobs")
            self.chrome.wait(f"!!{link}", f"job {job_id} in the list")
            box = self.chrome.run(f"(() => {{ {link}.scrollIntoView({{block: 'center'}}); const "
                                  f"box = {link}.getBoundingClientRect(); return "
                                  "[box.x + box.width / 2, box.y + box.height / 2]; })()")
            self.chrome.click(*box)
            if self.chrome.run("location.hash") in ("#/jobs", f"#/jobs/{job_id}"):
                break  # it is the one, or the page is about to say so

    def job_lit(self):
        """A click on a job in the list lights exactly its GPUs."""
        running = [job for job in self.api.get("/v1/jobs")["jobs"] if job["state"] == "running"]
        running.sort(key=lambda job: -job["gpus"])
        # The first and the one that shares a node with others, where there is one.
        chosen = {job["id"] for job in running[:1]}
        chosen |= {job["id"] for job in running if job["gpus"] % 8 and job["gpus"] > 64}
        for job_id in sorted(chosen):
            self.click_job(job_id)
            self.chrome.wait(f"location.hash === '#/jobs/{job_id}' && "
                             "!!document.querySelector('.nodelist')", f"the view of job {job_id}")
            self.until(lambda job_id=job_id: self.lit_as_told(job_id), f"job {job_id} lit")
        detail = self.api.get(f"/v1/jobs/{job_id}")
        shown = self.chrome.run("[...document.querySelectorAll('.nodelist li')]"
                                ".map((one) => one.textContent)")
        self.expect(shown == detail["node_names"], "its nodes are listed in rank order")
        facts = self.chrome.run("document.querySelector('.facts').innerText")
        for word in ("epoch", "step", "failures", detail["state"]):
            self.expect(word in facts, f"'{word}' is among the job's facts")
        self.chrome.wait("!!document.querySelector('.why li')", "the job explained")
        self.expect(self.chrome.run("document.querySelectorAll('.pair .events li').length") > 0,
                    "its events are told")
        self.shot("job")
        self.go("#/jobs/99999999")
        self.chrome.wait("document.body.innerText.includes('There is no job 99999999')", "no job")

    def lit_as_told(self, job_id):
        found, detail = self.pixels(), self.api.get(f"/v1/jobs/{job_id}")
        masks = detail.get("node_gpus") or [(1 << found["perNode"]) - 1] * len(detail["node_names"])
        wanted = sorted(found["names"].index(name) * found["perNode"] + gpu
                        for name, mask in zip(detail["node_names"], masks)
                        for gpu in range(found["perNode"]) if mask >> gpu & 1)
        return (bool(wanted) and found["lit"] == wanted or
                f"{len(found['lit'])} GPUs are lit, it has {len(wanted)}")

    def gpu_click(self):
        self.go("#/")
        self.chrome.wait("!!document.querySelector('canvas.pixels')?.dataset.seq", "the map")
        # The fourth GPU of the second node: third pixel right, first down.
        left, top, cell, gpus = self.chrome.run(
            "(() => { const canvas = document.querySelector('canvas.pixels'), box = "
            "canvas.getBoundingClientRect(); return [box.x, box.y, +canvas.dataset.cell, "
            "+canvas.dataset.gpus]; })()")
        self.chrome.click(left + (gpus + 0.5) * cell, top + 1.5 * cell)
        said = self.chrome.run("document.getElementById('readout').textContent")
        self.expect("a row each" in said, f"between the blocks there is no GPU: '{said}'")
        self.chrome.click(left + 3.5 * cell, top + 1.5 * cell)
        name = sorted(self.api.get("/v1/nodes")["nodes"], key=lambda one: one["id"])[1]["name"]
        self.chrome.wait("location.hash.startsWith('#/nodes/') && "
                         "!!document.querySelector('.gpus')", "a click on a GPU opens its node")
        self.expect(self.chrome.run("decodeURIComponent(location.hash)") == f"#/nodes/{name}?gpu=3",
                    "the address names node and GPU")
        marked = self.chrome.run("document.querySelector('.gpus [aria-current]')?.innerText")
        self.expect("GPU 3" in (marked or ""), f"the GPU is marked: '{marked}'")

    def live(self):
        """The bell rings, the picture moves; what is not seen is not asked for."""
        self.go("#/events")
        page = self.chrome
        page.wait("!!document.querySelector('.events li[data-seq]')", "events")
        first = "Number(document.querySelector('.events li[data-seq]').dataset.seq)"
        before = page.run(first)
        page.run("performance.clearResourceTimings()")
        page.wait(f"{first} > {before}", "a new event")
        asked = ("performance.getEntriesByType('resource').map((one) => "
                 "[new URL(one.name).pathname, one.startTime])")
        page.wait(f"{asked}.filter(([path]) => path === '/v1/frame').length >= 4", "frames")
        calls = page.run(asked)
        # The icon is the browser's own wish, whenever it has it.
        self.expect({path for path, _ in calls} <= {"/v1/frame", "/v1/cluster", "/v1/events",
                                                    "/assets/icon.svg"},
                    f"only what is seen is asked for: {sorted({path for path, _ in calls})}")
        times = [at for path, at in calls if path == "/v1/frame"]
        gaps = [later - sooner for sooner, later in zip(times, times[1:])]
        self.expect(min(gaps) > 950, f"frames are asked for once a second at most: {min(gaps)} ms")

    def lost(self):
        """The cable is cut: old data stays, grey and with its age; mended, nothing is missing."""
        page = self.chrome
        self.go("#/")
        page.wait("!!document.querySelector('canvas.pixels')?.dataset.seq", "the map")
        seq = "Number(document.querySelector('canvas.pixels').dataset.seq)"
        after = page.run("Number(document.querySelector('.events li').dataset.seq)")
        self.proxy.cut()
        page.wait("document.documentElement.classList.contains('stale')", "stale after a cut")
        age = page.run("document.getElementById('age').innerText")
        self.expect("stale" in age and " s old" in age, f"the age is told: '{age}'")
        page.wait("document.querySelector('.troubles')?.innerText.includes('no answer')", "why")
        self.expect(page.run("getComputedStyle(document.querySelector('main')).filter")
                    == "grayscale(1)", "it is grey")
        self.expect(page.run("document.querySelector('canvas.pixels').width") > 10 and
                    page.run(TRUTH)["gpus"] > 0, "and not hidden")
        self.shot("stale")
        old = page.run(seq)
        self.proxy.mend()
        page.wait("!document.documentElement.classList.contains('stale') && "
                  f"{seq} > {old} && !document.querySelector('.troubles')", "fresh after mending")
        page.wait("document.getElementById('age').innerText.includes('live')", "the stream is back")
        now = self.api.get("/v1/cluster")["seq"]
        told = [one for one in self.api.events(after, now) if one[1] != "doorbell"]
        self.go("#/events")
        shown = "[...document.querySelectorAll('.events li')].map((one) => Number(one.dataset.seq))"
        page.wait(f"{shown}.includes({told[-1][0]})", "events after mending")
        missed = {seq for seq, _, _ in told} - set(page.run(shown))
        self.expect(not missed, f"events of the dark time are missing: {sorted(missed)}")
        twice = page.run(f"{shown}.length - new Set({shown}).size")
        self.expect(twice == 0, f"{twice} events are shown twice")

    def keyboard(self):
        page = self.chrome
        self.go("#/")
        page.run("void (window.before = true)")
        page.call("Page.reload")
        page.wait("!window.before && !!document.querySelector('canvas.pixels')?.dataset.seq",
                  "the map after a reload, without signing in again")
        seen = []
        for _ in range(20):
            page.key("Tab")
            seen.append(page.run("document.activeElement.getAttribute('role') || "
                                 "document.activeElement.textContent"))
            if seen[-1] == "application":
                break
        self.expect(seen[-1] == "application", f"Tab reaches the map: {seen}")
        views = ["Map", "Jobs", "Queue", "Nodes", "Events"]
        self.expect([one for one in seen if one in views] == views, f"and every view: {seen}")
        names = [one["name"] for one in
                 sorted(self.api.get("/v1/nodes")["nodes"], key=lambda one: one["id"])]
        # The map is there before the names are: until then it says "node 0".
        end = time.monotonic() + 240
        said = ""
        while names[0] not in said and time.monotonic() < end:
            page.key("Home")
            said = page.run("document.getElementById('readout').textContent")
        for key, words in (("Home", (names[0], "GPU 0")), ("ArrowRight", (names[0], "GPU 1")),
                           ("ArrowDown", (names[1], "GPU 1")), ("ArrowLeft", (names[1], "GPU 0")),
                           ("ArrowUp", (names[0], "GPU 0")), ("ArrowUp", (names[0], "GPU 0")),
                           ("End", (names[-1], "GPU")), ("Home", (names[0], "GPU 0")),
                           ("ArrowDown", (names[1], "GPU 0"))):
            page.key(key)
            said = page.run("document.getElementById('readout').textContent")
            self.expect(all(word in said for word in words), f"{key}: '{said}'")
        cell = page.run("Number(document.querySelector('canvas.pixels').dataset.cell)")
        page.key("+", "+")
        page.wait(f"Number(document.querySelector('canvas.pixels').dataset.cell) === 2 * {cell}",
                  "plus zooms")
        self.shot("zoom")
        page.key("-", "-")
        page.key("Enter")
        wanted = json.dumps(f"#/nodes/{names[1]}?gpu=0")
        page.wait(f"decodeURIComponent(location.hash) === {wanted}", "Enter opens the node")
        self.shot("node")
        # A key that comes while the view is being changed is nobody's: it is pressed again, but
        # not before the first one has had its time.
        listed = "location.hash === '#/nodes' && !!document.getElementById('filter')"
        for _ in range(5):
            page.key("Escape")
            end = time.monotonic() + 10
            while time.monotonic() < end and page.run("location.hash.startsWith('#/nodes/')"):
                time.sleep(0.1)
            if not page.run("location.hash.startsWith('#/nodes/')"):
                break
        page.wait(listed, "Esc goes up to the list")
        page.key("/", "/")
        self.expect(page.run("document.activeElement.id") == "filter", "'/' goes to the filter")
        page.call("Input.insertText", text=f"leaf:0 {names[1]}")
        page.wait("document.querySelectorAll('tbody tr').length === 1", "one node is left")
        self.expect(page.run("document.querySelector('tbody td').textContent") == names[1],
                    "it is the right one")
        page.key("Escape")
        page.key("Escape")
        page.wait("location.hash === '#/'", "Esc goes up to the map")

    def looks(self):
        """Both widths, both schemes: nothing wider than the screen, and colours that follow."""
        grounds = {}
        for width, height in ((1440, 900), (390, 844)):
            self.chrome.size(width, height)
            for scheme in ("light", "dark"):
                self.chrome.scheme(scheme)
                for address in [*VIEWS, self.a_job(), self.a_node()]:
                    self.go(address)
                    self.chrome.wait("!!document.querySelector('canvas.pixels, tbody tr, .empty, "
                                     ".events li') && !document.body.innerText.includes('On its "
                                     "way')", f"{address} at {width}")
                    # Not innerWidth: a phone zooms out until all fits, and would hide it.
                    # The map is laid out anew in the frame after the size changed.
                    end = time.monotonic() + 20
                    wide = 1
                    while wide > 0 and time.monotonic() < end:
                        wide = self.chrome.run("document.documentElement.scrollWidth") - width
                        time.sleep(0.05 if wide > 0 else 0)
                    self.expect(wide <= 0, f"{address} at {width}: {wide} pixels too wide")
                    self.shot(f"{address.strip('#/').split('/')[0] or 'map'}"
                              f"{'-one' if address.count('/') > 1 else ''}-{width}-{scheme}")
                self.go("#/")
                self.chrome.wait("!!document.querySelector('canvas.pixels')?.dataset.seq", "map")
                self.picture()
                grounds[scheme] = self.chrome.run("getComputedStyle(document.body).backgroundColor")
        self.expect(grounds["light"] != grounds["dark"], f"dark is not light: {grounds}")
        self.chrome.size(1440, 900)
        self.chrome.scheme("light")

    def a_job(self):
        jobs = self.api.get("/v1/jobs")["jobs"]
        return f"#/jobs/{max(jobs, key=lambda job: job['gpus'])['id']}" if jobs else "#/jobs"

    def a_node(self):
        return "#/nodes/" + self.api.get("/v1/nodes")["nodes"][0]["name"]

    def sign_out(self):
        page = self.chrome
        self.go("#/")
        page.run("document.getElementById('logout').click()")
        page.wait("!!document.querySelector('#token')", "the form after sign-out")
        self.expect(page.run("!document.querySelector('canvas, table')"), "nothing is left to see")
        self.expect(page.run("fetch('/v1/cluster').then((answer) => answer.status)") == 401,
                    "the cookie is gone")
        self.shot("login")

    def quiet(self):
        """No complaint on the console but of calls that were meant to fail; no dialog."""
        for event in self.chrome.events:
            what, more = event["method"], event["params"]
            if what == "Runtime.exceptionThrown":
                self.expect(False, f"exception: {json.dumps(more)[:400]}")
            elif what == "Runtime.consoleAPICalled" and more["type"] in ("error", "warning"):
                self.expect(False, f"console: {json.dumps(more['args'])[:400]}")
            elif what == "Page.javascriptDialogOpening":
                self.expect(False, f"a dialog: {more['message']}")
            elif what == "Log.entryAdded" and more["entry"]["level"] in ("error", "warning"):
                entry = more["entry"]
                meant = entry["source"] == "network" and any(
                    word in entry["text"] for word in ("401", "404", "net::ERR_"))
                # Only this test reads pixels back.
                meant = meant or "willReadFrequently" in entry["text"]
                self.expect(meant, f"log: {entry['source']}: {entry['text']}")
        self.checks += 1

    def shot(self, name):
        if self.shots:
            self.chrome.screenshot(pathlib.Path(self.shots) / f"{name}.png")

    def run(self, token):
        self.chrome.size(1440, 900)
        self.chrome.scheme("light")
        self.sign_in(token)
        for check in (self.picture, self.legend_lights, self.counts, self.table_behind, self.lists,
                      self.markup, self.job_lit, self.gpu_click, self.live, self.keyboard,
                      self.lost, self.looks, self.sign_out, self.quiet):
            check()


def other_shapes(chrome, page, shots):
    """Leaves so large that they are folded, and the last one not full; then, in the same place, a
    server that has lost everything and counts from the beginning."""
    stub = Stub(page, "--nodes", "400", "--per-leaf", "150")
    empty = Stub(page, "--nodes", "0", "--seq", "1")
    try:
        test = Test(chrome, Proxy(stub.url), Api(stub.url, stub.token), shots)
        chrome.size(1440, 900)
        chrome.call("Page.navigate", url=test.proxy.url + "/#/")
        # The page before it shows a form too.
        chrome.wait(f"location.origin === '{test.proxy.url}' && "
                    "document.activeElement?.id === 'token'", "the form of another server")
        chrome.call("Input.insertText", text=stub.token)
        chrome.key("Enter")
        chrome.wait("Number(document.querySelector('canvas.pixels')?.dataset.folds) > 1",
                    "leaves of 150 nodes are folded")
        test.picture()
        test.gpu_click()
        test.shot("folded")
        test.go("#/")
        test.proxy.cut()
        test.proxy.aim(empty.url)
        test.proxy.mend()
        chrome.wait("document.body.innerText.includes('No node has joined yet')", "no nodes")
        chrome.wait("document.querySelector('canvas.pixels').width === 0", "and no picture")
        chrome.wait("document.getElementById('age').innerText.includes('live')", "its stream")
        test.expect(chrome.run("!document.querySelector('.events li')"), "old events are gone")
        test.expect(chrome.run(TRUTH) == dict.fromkeys(
            ["running", "waiting", "busy", "gpus", "out", "nodes"], 0), "nothing is counted")
        for address in VIEWS:
            test.go(address)
            chrome.wait("!!document.querySelector('main .empty')", f"{address} of an empty cluster")
        test.quiet()
        return test
    finally:
        stub.close()
        empty.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--url", help="of a running server, instead of the made-up one")
    parser.add_argument("--token", help="for that server")
    parser.add_argument("--page", default=ROOT / "web/dist", help="the built page of the stub")
    parser.add_argument("--shots", help="folder for pictures")
    options = parser.parse_args()
    if not options.url and not shutil.which("node"):
        print("node is not installed, so there is no made-up server: scripts/deps test")
        return 1
    if options.shots:
        pathlib.Path(options.shots).mkdir(parents=True, exist_ok=True)
    stub = None if options.url else Stub(options.page)
    chrome = None
    try:
        url, token = (stub.url, stub.token) if stub else (options.url, options.token)
        chrome, proxy = Chrome(), Proxy(url)
        test = Test(chrome, proxy, Api(url, token), options.shots)
        test.run(token)
        tests = [test]
        if stub:
            chrome.events.clear()
            tests.append(other_shapes(chrome, options.page, options.shots))
    finally:
        if chrome:
            chrome.close()
        if stub:
            stub.close()
    for note in test.notes:
        print(f"not looked at: {note}")
    failed = sum(len(test.faults) for test in tests)
    print(f"{sum(test.checks for test in tests)} checks of the page, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
