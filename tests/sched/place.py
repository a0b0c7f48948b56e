#!/usr/bin/env python3
"""Placing as a user asks for it: the same layout takes the same time whoever is asked, an elastic
gang takes what its layout allows, an option of another sub-verb is refused.

    tests/sched/place.py MYRIAD
"""
import csv
import io
import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MYRIAD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/bin/myriad").resolve()


def run(*arguments, text=None):
    return subprocess.run([str(MYRIAD), *map(str, arguments)], text=True, input=text,
                          capture_output=True, timeout=120, check=False)


class Place(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        done = run("plan", ROOT / "examples/h100-64.yaml", "--out", cls.folder)
        assert done.returncode == 0, done.stderr
        cls.design = cls.folder / "design.myr"

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def place(self, *more, code=0, text=None):
        done = run("sched", "place", "--design", self.design, "-o", "json", *more, text=text)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_fit_goodput_and_place_agree_on_a_layout_file(self):
        for model, gpus, batch in (("llama3-8b", 64, 128), ("llama3-70b", 256, 256),
                                   ("mixtral-8x7b", 128, 256)):
            layout = self.folder / "layout.yaml"
            done = run("fit", "--model", model, "--design", self.design, "--gpus", gpus, "--batch",
                       batch, "--layout-out", layout, "-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            searched = json.loads(done.stdout)["best"]["step_s"]
            question = ("--model", model, "--design", self.design, "--layout", layout, "-o", "json")
            given = json.loads(run("fit", *question).stdout)["best"]["step_s"]
            placed = self.place("--model", model, "--layout", layout)
            self.assertEqual((given, placed["step"]["best_step_s"]), (searched, searched))
            nodes = [row["index"] for row in placed["ranks"]]
            self.assertEqual(nodes, list(range(gpus // 8)))
            self.assertEqual(placed["step"]["step_s"], searched)

    def test_the_drawing_overwrites_nothing_that_is_read(self):
        state = self.folder / "state.csv"
        state.write_text("node,job,gpus\n0,1,8\n", encoding="utf-8")
        link = self.folder / "link.svg"
        link.symlink_to(self.design)
        before = self.design.read_bytes()
        for out in (state, link, self.design):
            done = run("sched", "place", "--design", self.design, "--state", state, "--nodes", 2,
                       "--plot", out)
            self.assertEqual((done.returncode, done.stdout), (2, ""), out)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(self.design.read_bytes(), before)
        self.assertEqual(state.read_text(encoding="utf-8"), "node,job,gpus\n0,1,8\n")

    def test_a_layout_beyond_memory_is_a_no_for_all_three(self):
        layout = self.folder / "large.yaml"
        layout.write_text("layout: {tp: 8, pp: 1, dp: 1, global_batch: 8, micro_batch: 1}\n")
        question = ("--model", "llama3-405b", "--design", self.design, "--layout", layout)
        for verb in (("fit",), ("goodput",), ("sched", "place")):
            done = run(*verb, *question)
            self.assertEqual(done.returncode, 1, (verb, done.stderr))
        placed = self.place("--model", "llama3-405b", "--layout", layout, code=1)
        self.assertEqual((placed["placed"], placed["step"]["memory_fits"]), (True, False))

    def test_tensor_groups_that_a_node_cuts_through_are_placed(self):
        """The layout that fit wrote was refused, without its file: tensor 6 on nodes of 4 GPUs."""
        layout = self.folder / "six.yaml"
        layout.write_text("layout: {tp: 6, pp: 2, dp: 4, global_batch: 16, micro_batch: 1,\n"
                          "         sequence_parallel: false}\n")
        rack = self.folder / "rack"
        done = run("plan", "-", "--out", rack, text="servers: 2\nserver: gb200-nvl72\n"
                   "networks: {compute: {switch: mqm9790-ns2f}}\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        question = ("--model", "gpt3-175b", "--design", rack / "design.myr", "--layout", layout)
        for verb in (("fit",), ("goodput",), ("sched", "place")):
            done = run(*verb, *question)
            self.assertEqual(done.returncode, 0, (verb, done.stderr))
        done = run("sched", "place", *question, "--nodes", 5)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{layout}: the layout has 48 ranks, expected 20 on 5 nodes of 4 GPUs",
                      done.stderr)

    def test_a_node_of_the_state_is_named_in_full(self):
        """Nodes 3, 0, 1 were taken as down: whatever ended in digits was a node."""
        for name in ("spine/p0-3", "5.0", "gpu001", "rack3-gpu017", "训练机07"):
            done = run("sched", "place", "--design", self.design, "--nodes", 4, "--state", "-",
                       text=f"node,state\nnode/00002,down\n{name},down\n")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f":3:1: '{name}' is no node, expected 0 to 63", done.stderr)
        state = "node,state\nnode/00001,down\nnode-00002,down\n3,down\n"
        placed = self.place("--nodes", 61, "--state", "-", text=state)
        nodes = sorted(row["index"] for row in placed["ranks"])
        self.assertEqual(nodes, [0, *range(4, 64)])

    def test_the_least_is_not_more_than_the_most(self):
        done = run("sched", "place", "--design", self.design, "--nodes", 4, "--min-nodes", 5)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--min-nodes 5, expected at most the gang's 4", done.stderr)
        self.assertEqual(self.place("--nodes", 4, "--min-nodes", 4)["nodes"], 4)

    def test_a_gang_that_its_layout_does_not_let_shrink_waits(self):
        """It aborted: five nodes are free, and six experts cannot be spread over them."""
        state = "node,job\n" + "".join(f"{node},j{node}\n" for node in range(59))
        gang = ("--state", "-", "--nodes", 6, "--min-nodes", 4, "--tp", 8, "--pp", 1)
        waits = self.place(*gang, "--ep", 6, code=1, text=state)
        self.assertFalse(waits["placed"])
        self.assertNotIn("fewer-nodes", [change["kind"] for change in waits["changes"]])
        starts = self.place(*gang, "--ep", 2, text=state)
        self.assertEqual((starts["nodes"], starts["nodes_asked"]), (4, 6))
        self.assertEqual(starts["layout"]["dp"], 4)
        batch = self.place(*gang, "--batch", 18, code=1, text=state)
        self.assertEqual([change["nodes"] for change in batch["changes"]
                          if change["kind"] == "fewer-nodes"], [3])

    def test_csv_has_the_nodes_in_rank_order(self):
        done = run("sched", "place", "--design", self.design, "--nodes", 4, "-o", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([row["first_rank"] for row in rows], ["0", "8", "16", "24"])
        self.assertEqual(rows[3]["last_rank"], "31")
        self.assertTrue(all(row["node"].startswith("node/") for row in rows))

    def test_options_of_other_sub_verbs_are_refused(self):
        for option in ("--policy", "--leaf-nodes", "--events", "--report"):
            done = run("sched", "place", "--design", self.design, "--nodes", 4, option, 4)
            self.assertEqual((done.returncode, done.stdout), (2, ""), option)
        self.assertEqual(run("sched", "plcae").returncode, 2)
        self.assertIn("place", run("sched", "plcae").stderr)

    def test_the_drawing_is_one(self):
        path = self.folder / "gang.svg"
        self.place("--nodes", 12, "--tp", 8, "--pp", 3, "--plot", path)
        root = xml.parse(path).getroot()
        titles = [item.text or "" for item in root.iter() if item.tag.endswith("title")]
        self.assertEqual(sum(": ranks " in title for title in titles), 12)
        self.assertTrue(any("stage 2, number 3 in it" in title for title in titles))


if __name__ == "__main__":
    unittest.main()
