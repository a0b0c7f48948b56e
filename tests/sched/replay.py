#!/usr/bin/env python3
"""The replay as a program sees it: its contract, its errors, its plots, the tool that draws traces.

    tests/sched/replay.py MYRIAD
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MYRIAD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/bin/myriad").resolve()
EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # one in so many
HEADER = "submit_s,duration_s,num_gpus,vc\n"


def run(*arguments):
    return subprocess.run([str(MYRIAD), "sched", "replay", *map(str, arguments)], text=True,
                          capture_output=True, timeout=600, check=False)


def busy_trace(seed=1, count=3000):
    """Many short small jobs, some long ones, some gangs: about 0.85 of 64 GPUs asked for."""
    rng = random.Random(seed)
    rows, at = [], 0
    for _ in range(count):
        at += int(rng.expovariate(1 / 150))
        gpus = rng.choice([1] * 12 + [2, 2, 4, 4, 8, 8, 16, 12, 24, 32])
        length = int(min(rng.lognormvariate(6, 1.6), 80000)) + 1
        rows.append(f"{at},{length},{gpus},t{rng.randrange(5)}\n")
    return HEADER + "".join(rows)


def small_trace(rng):
    """A dozen jobs within an hour or two, of several priorities: much happens in one instant."""
    rows = []
    for i in range(rng.randrange(3, 16)):
        at_s = rng.choice([0, 600, 1324, 1800, rng.randrange(7200)])
        length_s = rng.choice([0, 1, 60, 600, 1800, 9000, rng.randrange(1, 40000)])
        gpus = rng.choice([1, 2, 4, 7, 8, 8, 12, 16, 24, 40, 64])
        rows.append((at_s, length_s, gpus, f"t{rng.randrange(3)}", rng.choice([0, 0, 0, 5, -3])))
    rows.sort()
    return rows


def checked_schedule(path, jobs, nodes, per, checkpoint_s=1800, restart_s=120):
    """Reads a schedule and holds it against the jobs: {line: (submit, length, GPUs)}.

    Whoever has a GPU is kept in one table, so a GPU that is given twice is seen at once; and a job
    that is stopped goes on from its last full checkpoint, after a restart.
    """
    jobs, owner, running, left, stops = dict(jobs), {}, {}, {}, 0
    last_s = 0
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            at_s, line, event = int(row["time_s"]), int(row["line"]), row["event"]
            submit_s, length_s, gpus = jobs[line]
            assert at_s >= last_s and at_s >= submit_s, row
            last_s = at_s
            places = set()
            for piece in row["nodes"].split():
                at, which = (list(map(int, part.split("-"))) for part in piece.split(":"))
                places |= {(n, g) for n in range(at[0], at[-1] + 1)
                           for g in range(which[0], which[-1] + 1)}
            assert len(places) == gpus == int(row["gpus"]), row
            assert all(0 <= n < nodes and 0 <= g < per for n, g in places), row
            whole = -(-gpus // per)
            assert len({n for n, _ in places}) == whole, row
            if event == "start":
                assert line not in running and not places & owner.keys(), row
                owner.update(dict.fromkeys(places, line))
                running[line] = (at_s, places)
                continue
            since_s, mine = running.pop(line)
            assert at_s > since_s or event == "end" and length_s == 0, row
            assert mine == places and all(owner.pop(place) == line for place in places), row
            worked_s = at_s - since_s - (restart_s if line in left else 0)
            if event == "end":
                assert worked_s == left.pop(line, length_s), row
                jobs.pop(line)
            else:
                assert event == "stop", row
                stops += 1
                saved_s = max(0, worked_s) // checkpoint_s * checkpoint_s
                left[line] = left.get(line, length_s) - saved_s
    assert not jobs and not running and not owner and not left, (len(jobs), len(running))
    return stops


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, text, name="jobs.csv"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def result(self, path, *more):
        done = run(path, "--nodes", 8, "--leaf-nodes", 4, "-o", "json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_contract_has_every_field(self):
        result = self.result(self.write(busy_trace()))
        self.assertEqual(list(result), ["schema", "version", "question", "cluster", "trace", "jobs",
                                        "wait_h", "wait_h_recorded", "wait_h_multinode", "jct_h",
                                        "leaf_span", "gpu_utilisation", "preemptions",
                                        "lost_gpu_hours_percent", "wait_gpu_hours",
                                        "gang_half_max_h", "drain_idle_percent", "hash",
                                        "wait_h_by_size", "longest_waits", "tenants", "explain"])
        self.assertEqual(list(result["wait_h"]), ["mean", "p50", "p99", "max"])
        self.assertEqual(list(result["wait_h_multinode"]), ["jobs", "mean", "max"])
        self.assertEqual(sum(row["jobs"] for row in result["wait_h_by_size"]), 3000)
        self.assertEqual(sum(row["jobs"] for row in result["tenants"]), 3000)
        self.assertEqual(result["longest_waits"][0]["wait_h"], result["wait_h"]["max"])
        self.assertEqual(result["jobs"], 3000)
        self.assertEqual(result["preemptions"], 0)
        self.assertGreaterEqual(result["leaf_span"], 1)

    def test_the_cluster_is_given_or_said_to_be_assumed(self):
        path = self.write(busy_trace())
        done = run(path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no cluster is given", done.stderr)
        self.assertIn("--nodes", done.stderr)
        cluster = json.loads(run(path, "--nodes", 16, "-o", "json").stdout)["cluster"]
        self.assertEqual((cluster["nodes"], cluster["gpus_per_node"], cluster["leaf_nodes"]),
                         (16, 8, 8))
        self.assertEqual(cluster["assumed"], ["gpus_per_node", "leaf_nodes"])
        self.assertIn("8 GPUs (assumed), 8 nodes a leaf (assumed)",
                      run(path, "--nodes", 16).stdout)
        given = json.loads(run(path, "--nodes", 16, "--gpus-per-node", 8, "--leaf-nodes", 8, "-o",
                               "json").stdout)["cluster"]
        self.assertEqual(given["assumed"], [])
        self.assertEqual(run(path, "--nodes", 16, "--design", "x").returncode, 2)

    def test_options_of_other_sub_verbs_are_refused(self):
        path = self.write(busy_trace())
        for option in ("--tp", "--events", "--min-nodes"):
            self.assertEqual(run(path, "--nodes", 8, option, 4).returncode, 2, option)

    def test_standard_input_is_a_trace(self):
        text = busy_trace()
        path = self.write(text)
        done = subprocess.run([str(MYRIAD), "sched", "replay", "-", "--nodes", "8", "-o", "json"],
                              input=text, text=True, capture_output=True, timeout=120, check=True)
        self.assertEqual(json.loads(done.stdout)["hash"],
                         json.loads(run(path, "--nodes", 8, "-o", "json").stdout)["hash"])

    def test_half_a_cluster_is_found_among_short_jobs(self):
        sys.path.insert(0, str(ROOT / "tools/sched"))
        import shapes
        rows = shapes.trace("half", 1).splitlines()
        # Ten days of it, with two of the gangs.
        path = self.write("\n".join(row for row in rows
                                    if row[0] == "s" or int(row.split(",")[0]) < 11 * 86400) + "\n")
        waits = {}
        for policy in ("fifo", "first-fit", "fair", "preempt"):
            done = run(path, "--nodes", 64, "--leaf-nodes", 8, "--policy", policy, "-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            waits[policy] = json.loads(done.stdout)
        self.assertLessEqual(waits["fair"]["gang_half_max_h"], 3)
        self.assertLessEqual(waits["preempt"]["gang_half_max_h"], 1)
        self.assertLessEqual(waits["fair"]["wait_h"]["mean"], 0.5 * waits["fifo"]["wait_h"]["mean"])
        self.assertGreater(waits["first-fit"]["gang_half_max_h"], 24)
        for policy in ("fair", "preempt"):
            self.assertLessEqual(waits[policy]["drain_idle_percent"], 1)

    def test_a_costly_drain_does_not_starve_the_next_gang(self):
        # One gang took long to drain for here, and the next had to wait until that was paid off.
        sys.path.insert(0, str(ROOT / "tools/sched"))
        import shapes
        path = self.write(shapes.trace("half", 72))
        done = run(path, "--nodes", 64, "--leaf-nodes", 8, "--policy", "fair", "-o", "json")
        self.assertLessEqual(json.loads(done.stdout)["gang_half_max_h"], 3)

    def test_equal_inputs_give_equal_hashes(self):
        path = self.write(busy_trace())
        for policy in ("fifo", "first-fit", "fair", "preempt"):
            first = self.result(path, "--policy", policy)
            self.assertEqual(first["hash"], self.result(path, "--policy", policy)["hash"])
        moved = self.result(path, "--jitter", 900, "--seed", 2)
        self.assertNotEqual(moved["hash"], self.result(path)["hash"])
        self.assertEqual(moved["hash"], self.result(path, "--jitter", 900, "--seed", 2)["hash"])
        self.assertNotEqual(moved["hash"],
                            self.result(path, "--jitter", 900, "--seed", 3)["hash"])

    def test_better_policies_wait_less(self):
        for seed in range(3):
            path = self.write(busy_trace(seed))
            mean = {policy: self.result(path, "--policy", policy)["wait_h"]["mean"]
                    for policy in ("fifo", "fair", "preempt")}
            self.assertLess(mean["fair"], mean["fifo"])
            self.assertLess(mean["preempt"], mean["fair"])

    def test_preemption_costs_at_most_a_hundredth(self):
        result = self.result(self.write(busy_trace()), "--policy", "preempt")
        self.assertGreater(result["preemptions"], 0)
        self.assertGreater(result["lost_gpu_hours_percent"], 0)
        self.assertLess(result["lost_gpu_hours_percent"], 1)

    def test_by_hand(self):
        """One node: the second job waits for the first, the third for a GPU of the second."""
        path = self.write(HEADER + "0,3600,8,a\n0,1800,8,a\n1800,3600,1,a\n")
        done = run(path, "--nodes", 1, "--leaf-nodes", 1, "-o", "json", "--policy", "fifo")
        result = json.loads(done.stdout)
        self.assertAlmostEqual(result["wait_h"]["mean"], (0 + 1 + 1) / 3, places=3)
        self.assertAlmostEqual(result["wait_h"]["max"], 1, places=3)
        self.assertAlmostEqual(result["jct_h"]["mean"], (1 + 1.5 + 2) / 3, places=3)
        self.assertAlmostEqual(result["gpu_utilisation"], (8 + 4 + 1) / (8 * 2.5), places=3)

    def test_plots_are_drawings(self):
        folder = self.folder / "deep" / "plots"
        self.result(self.write(busy_trace()), "--plots", folder)
        names = sorted(path.name for path in folder.iterdir())
        self.assertEqual(names, ["fragmentation.svg", "span.svg", "utilisation.svg",
                                 "wait-by-size.svg"])
        for name in names:
            root = xml.parse(folder / name).getroot()
            self.assertGreater(len(list(root.iter())), 15)

    def test_the_report_is_one_page(self):
        page = self.folder / "report.html"
        result = self.result(self.write(busy_trace()), "--report", page)
        text = page.read_text(encoding="utf-8")
        self.assertEqual(text.count("<svg"), 8)  # four, each for a desk and for a phone
        self.assertTrue(f"<b>{result['jobs']:,}</b>" in text and "The longest waits" in text)
        self.assertFalse("http" in text.replace("http://www.w3.org/", ""))
        bad = run(self.write(busy_trace()), "--report", self.folder / "no" / "such" / "page.html")
        self.assertNotEqual((bad.returncode, bad.stdout), (0, ""))

    def test_plots_of_a_single_job(self):
        self.result(self.write(HEADER + "5,10,1,a\n"), "--plots", self.folder / "plots")

    def test_a_wait_is_explained(self):
        path = self.write(HEADER + "0,36000,4,a\n0,36000,5,b\n60,600,7,b\n")
        asked = ("--nodes", 2, "--leaf-nodes", 2, "--explain")
        done = run(path, *asked, "longest")
        words = " ".join(done.stdout.split())
        self.assertIn("the job on line 4 had waited", words)
        self.assertIn("not on enough whole nodes", words)
        self.assertIn("job 2 (4 GPUs) over or stopped", words)
        why = json.loads(run(path, *asked, 4, "-o", "json").stdout)["explain"]
        self.assertEqual((why["line"], why["lacks"], why["nodes_free"]), (4, "fragmented", 0))
        self.assertIn("did not wait", run(path, *asked, 2).stdout)
        for wrong in ("99", "0", "x", "-1"):
            self.assertEqual(run(path, *asked, wrong).returncode, 2)

    def test_a_wait_is_explained_by_the_log_s_own_id(self):
        path = self.write("job_id,submission_time,duration,num_gpu\n"
                          "a-1,0,36000,4\n3,0,36000,5\n\"7, b\",60,600,7\nx,70,1,1\nx,80,1,1\n")
        asked = (path, "--nodes", 2, "--leaf-nodes", 2, "-o", "json", "--explain")

        def line(which):
            return json.loads(run(*asked, which).stdout)["explain"]["line"]
        self.assertEqual((line("7, b"), line("longest"), line("line:4")), (4, 4, 4))
        self.assertEqual((line("3"), line("a-1")), (3, 2))  # an id before a line
        result = json.loads(run(*asked, "longest").stdout)
        self.assertEqual((result["explain"]["job"], result["longest_waits"][0]["job"]),
                         ("7, b", "7, b"))
        for wrong in ("4", "line:", "line:1", "line:99", "a", ""):
            done = run(*asked, wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)
        self.assertIn("line:5 or line:6", run(*asked, "x").stderr)

    def test_the_schedule_gives_no_gpu_twice_and_every_job_its_length(self):
        text = busy_trace(4)
        path, out = self.write(text), self.folder / "schedule.csv"
        stops = {}
        for policy in ("fifo", "first-fit", "fair", "preempt"):
            result = self.result(path, "--policy", policy, "--schedule", out)
            rows = [row.split(",") for row in text.splitlines()]
            first_s = int(rows[1][0])
            jobs = {i + 1: (int(row[0]) - first_s, int(row[1]), int(row[2]))
                    for i, row in enumerate(rows) if i}
            stops[policy] = checked_schedule(out, jobs, 8, 8)
            self.assertEqual(stops[policy], result["preemptions"])
            without = self.result(path, "--policy", policy)
            self.assertEqual(without["hash"], result["hash"])
        self.assertGreater(stops["preempt"], 0)
        broken = out.read_text(encoding="utf-8").replace(":0-3", ":0-2", 1)
        out.write_text(broken, encoding="utf-8")
        with self.assertRaises(AssertionError):
            checked_schedule(out, jobs, 8, 8)
        bad = run(path, "--nodes", 8, "--schedule", self.folder / "no" / "such" / "file")
        self.assertNotEqual((bad.returncode, bad.stdout), (0, ""))

    def test_a_start_is_not_taken_away_in_the_same_instant(self):
        rows = [(0, 9000, 8, 5), (802, 9000, 8, 0), (1117, 9000, 2, 0), (1324, 600, 8, 0),
                (1324, 600, 64, 5)]
        path, out = self.folder / "jobs.csv", self.folder / "schedule.csv"
        path.write_text("submit_s,duration_s,num_gpus,priority\n" + "".join(
            ",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
        done = run(path, "--nodes", 10, "--policy", "preempt", "--schedule", out, "-o", "json")
        result = json.loads(done.stdout)
        jobs = {i + 2: row[:3] for i, row in enumerate(rows)}
        self.assertEqual(checked_schedule(out, jobs, 10, 8), 1)
        self.assertEqual(result["preemptions"], 1)
        # The job of eight GPUs ran once: it waited for the gang, and never restarted.
        waits = {row["line"]: (row["wait_h"], row["stops"]) for row in result["longest_waits"]}
        self.assertEqual(waits[5], (round(600 / 3600, 4), 0))

    def test_small_traces_at_random_keep_every_promise(self):
        out, stops = self.folder / "schedule.csv", 0
        for seed in range(100 // EVERY):
            rng = random.Random(seed)
            rows, nodes = small_trace(rng), rng.choice([8, 9, 10, 12])
            path = self.write("submit_s,duration_s,num_gpus,vc,priority\n" + "".join(
                ",".join(map(str, row)) + "\n" for row in rows))
            asked = [path, "--nodes", nodes, "--leaf-nodes", rng.choice([2, 4, 8]), "-o", "json"]
            if rng.random() < 0.4:
                asked += ["--own", f"{rows[0][3]}={rng.randrange(1, 4)}n"]
            jobs = {i + 2: (row[0] - rows[0][0], row[1], row[2]) for i, row in enumerate(rows)}
            for policy in ("first-fit", "fair", "preempt"):
                with self.subTest(seed=seed, policy=policy):
                    done = run(*asked, "--policy", policy, "--schedule", out)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    told = checked_schedule(out, jobs, nodes, 8)
                    self.assertEqual(told, json.loads(done.stdout)["preemptions"])
                    stops += told
        self.assertGreater(stops, 40 // EVERY)

    def test_nothing_that_is_read_is_written(self):
        text = HEADER + "0,600,8,a\n"
        path = self.write(text)
        (self.folder / "below").mkdir()
        around = self.folder / "below" / ".." / "jobs.csv"
        (self.folder / "soft.csv").symlink_to(path)
        (self.folder / "hard.csv").hardlink_to(path)
        tree = self.write("tenants:\n  a: {weight: 2}\n", "tenants.yaml")
        chart = self.write(text, "below/span.svg")
        wrong = [(path, "--tenants", tree, "--schedule", tree),
                 (chart, "--plots", self.folder / "below"),
                 (path, "--schedule", self.folder / "new", "--report", self.folder / "new")]
        for option in ("--schedule", "--report"):
            wrong += [(path, option, out) for out in
                      (path, around, self.folder / "soft.csv", self.folder / "hard.csv")]
        for asked in wrong:
            done = run(*asked, "--nodes", 8)
            self.assertEqual((done.returncode, done.stdout), (2, ""), asked)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(str(asked[1]), done.stderr)
        with open(path, encoding="utf-8") as file:
            done = subprocess.run([MYRIAD, "sched", "replay", "-", "--nodes", "8", "--schedule",
                                   path], stdin=file, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual([file.read_text(encoding="utf-8") for file in (path, chart)], [text] * 2)
        self.assertEqual(tree.read_text(encoding="utf-8")[:8], "tenants:")
        self.assertFalse((self.folder / "new").exists())
        self.assertEqual(run(path, "--nodes", 8, "--schedule", self.folder / "new").returncode, 0)

    def test_recorded_waits_stand_beside_the_replayed_ones(self):
        path = self.write("job_id,vc,gpu_num,submit_time,start_time,end_time\n"
                          "1,a,8,2020-01-01 00:00:00,2020-01-01 01:00:00,2020-01-01 02:00:00\n"
                          "2,a,8,2020-01-01 00:00:00,2020-01-01 03:00:00,2020-01-01 04:00:00\n"
                          "3,a,2,2020-01-01 09:00:00,2020-01-01 08:00:00,2020-01-01 09:30:00\n")
        result = json.loads(run(path, "--nodes", 1, "--leaf-nodes", 1, "-o", "json").stdout)
        self.assertEqual(result["wait_h_recorded"],
                         {"jobs": 2, "mean": 2, "p50": 1, "p99": 3, "max": 3, "replayed_mean": 0.5})
        self.assertEqual([row["recorded_mean_h"] for row in result["wait_h_by_size"]], [None, 2])
        sacct = self.write("JobID|Submit|Planned|ElapsedRaw|AllocTRES\n"
                           "1|2026-01-01T00:00:00|00:30:00|60|gres/gpu=8\n"
                           "2|2026-01-01T00:00:00|INVALID|60|gres/gpu=8\n", "sacct.txt")
        recorded = json.loads(run(sacct, "--nodes", 1, "-o", "json").stdout)["wait_h_recorded"]
        self.assertEqual((recorded["jobs"], recorded["mean"]), (1, 0.5))
        self.assertIn("recorded", run(path, "--nodes", 1).stdout)
        self.assertIsNone(self.result(self.write(busy_trace()))["wait_h_recorded"])

    def test_percentiles_are_by_nearest_rank(self):
        """One GPU, and jobs of an hour that come together: they wait 0, 1, 2 ... hours."""
        for count, p50, p99 in ((100, 49, 98), (2, 0, 1), (1, 0, 0)):
            path = self.write(HEADER + "0,3600,1,a\n" * count)
            done = run(path, "--nodes", 1, "--gpus-per-node", 1, "-o", "json", "--policy", "fifo")
            wait = json.loads(done.stdout)["wait_h"]
            self.assertEqual((wait["p50"], wait["p99"], wait["max"]), (p50, p99, count - 1))

    def test_jobs_that_never_started_are_left_out_and_said_so(self):
        path = self.write("submit_time,start_time,end_time,duration,gpu_num\n"
                          "0,5,65,60,1\n0,None,None,0,1\n0,,,,1\n1,Unknown,Unknown,None,8\n")
        result = self.result(path)
        self.assertEqual((result["jobs"], result["trace"]["rows_left_out"]), (1, 3))
        self.assertIn("3 rows: steps, or no GPUs, never started, not ended",
                      " ".join(run(path, "--nodes", 8).stdout.split()))

    def test_a_job_too_large_is_counted_and_left_out(self):
        path = self.write(HEADER + "0,60,8,a\n5,60,65,a\n6,60,1000,b\n9,60,64,a\n")
        result = self.result(path)
        self.assertEqual((result["jobs"], result["trace"]["jobs_too_large"]), (2, 2))
        words = " ".join(run(path, "--nodes", 8).stdout.split())
        self.assertIn("2 jobs left out: more GPUs needed than the cluster has, first on line 3",
                      words)
        self.assertEqual(self.result(self.write(busy_trace()))["trace"]["jobs_too_large"], 0)

    def test_what_other_tools_print_is_read(self):
        plain = self.write(HEADER + "0,60,8,a\n60,120,4,b\n90,60,8,a\n", "plain.csv")
        hashes = {self.result(plain)["hash"]}
        for text in (
                b"\xef\xbb\xbfsubmit_s,duration_s,num_gpus,vc\r\n"
                b"0,60,8,a\r\n60,120,4,b\r\n90,60,8,a",
                b'"Submission Time","Duration","GPUs","VC"\n"0","60","8","a"\n"60","120","4","b"\n'
                b'"90","60","8","a"\n',
                b"submit,duration,gpus,vc\n2024-02-29T23:59:00,60,8,a\n"
                b"2024-03-01T02:00:00+0200,2:00,4,b\n2024-02-29 19:00:30 -05:00,0:01:00,8.0,a\n",
                b"submit|elapsed|gpus|vc\n2024-02-29 23:59:00 UTC|1:00|8|a\n"
                b"2024-03-01 00:00:00.000 GMT|2:00|4|b\n2024-03-01 00:00:30Z|1:00|8|a\n"):
            hashes.add(self.result(self.write(text))["hash"])
        self.assertEqual(len(hashes), 1)

    def test_tenants_may_own_cells(self):
        path = self.write(HEADER + "0,36000,8,b\n0,36000,8,b\n60,600,8,a\n")
        asked = (path, "--nodes", 2, "--leaf-nodes", 2, "-o", "json")
        plain = json.loads(run(*asked).stdout)["tenants"]
        self.assertEqual([(row["name"], row["own_nodes"]) for row in plain], [("b", 0), ("a", 0)])
        result = json.loads(run(*asked, "--own", "a=1n").stdout)
        waits = {row["name"]: row["wait_h"]["max"] for row in result["tenants"]}
        self.assertEqual(waits["a"], 0)
        self.assertGreater(waits["b"], 0)
        self.assertEqual(result["preemptions"], 1)
        for wrong in ("a", "a=", "a=x", "a=1", "a=3n", "c=1n", "a=1n,", "=1n"):
            done = run(*asked, "--own", wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)

    def test_tenants_may_stand_in_a_tree(self):
        path = self.write(HEADER + "0,36000,8,b\n0,36000,8,b\n60,600,8,a\n")
        tree = self.write("tenants:\n  org:\n    weight: 3\n    cells: 1n\n    tenants:\n"
                          "      a: {weight: 2}\n", "tenants.yaml")
        asked = (path, "--nodes", 2, "--leaf-nodes", 2)
        result = json.loads(run(*asked, "-o", "json", "--tenants", tree).stdout)
        rows = {row["name"]: row for row in result["tenants"]}
        self.assertEqual([row["name"] for row in result["tenants"]], ["org", "a", "b"])
        self.assertEqual((rows["a"]["parent"], rows["a"]["weight"]), ("org", 2))
        self.assertEqual((rows["org"]["own_nodes"], rows["org"]["jobs"]), (1, 0))
        self.assertEqual(rows["a"]["wait_h"]["max"], 0)  # in the cells of its parent
        same = json.loads(run(*asked, "-o", "json", "--own", "org/a=0n,2w", "--own",
                              "org=1n,3w").stdout)
        self.assertEqual(same["hash"], result["hash"])
        self.assertRegex(run(*asked, "--tenants", tree).stdout, r"\na +org +2 ")
        for wrong in ("", "tenants: 3\n", "tenants:\n  a: {wight: 3}\n",
                      "tenants:\n  a: {cells: 3}\n", "tenants: {a: {tenants: {a: }}}\n", "[\n"):
            bad = self.write(wrong, "bad.yaml")
            done = run(*asked, "--tenants", bad)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)
            self.assertRegex(done.stderr, rf"^myriad: {bad}:\d+:\d+: ", wrong)
        large = self.write("tenants: {a: {cells: 3n}}\n", "large.yaml")
        self.assertEqual(run(*asked, "--tenants", large).returncode, 2)
        self.assertNotEqual(run(*asked, "--tenants", self.folder / "none.yaml").returncode, 0)

    def test_what_sacct_prints(self):
        path = self.write("JobID|Account|Submit|ElapsedRaw|AllocTRES\n"
                          "1|a|2026-01-01T00:00:00|60|cpu=1,gres/gpu=8\n"
                          "1.batch|a|2026-01-01T00:00:00|60|cpu=1,gres/gpu=8\n"
                          "2|b|2026-01-01T00:01:00|60|cpu=1\n")
        self.assertEqual(self.result(path)["jobs"], 1)

    def test_bad_traces_give_one_line(self):
        cases = ["", "\n", HEADER, "a,b\n1,2\n", "duration_s,num_gpus\n1,1\n",
                 "submit_s,num_gpus\n1,1\n", "submit_s,duration_s\n1,1\n", HEADER + "x,1,1,a\n",
                 HEADER + "1,x,1,a\n", HEADER + "1,1,x,a\n", HEADER + "-1,1,1,a\n",
                 HEADER + "1,-1,1,a\n", HEADER + "1,1,-1,a\n", HEADER + "1,1,1.5,a\n",
                 HEADER + "1,1\n", HEADER + "1,1,65,a\n", HEADER + "1,1,99999999999,a\n",
                 HEADER + "1,99999999999999,1,a\n", HEADER + '"1,1,1,a\n', HEADER + '1"1,1,1,a\n',
                 HEADER + "2026-99-01T00:00:00,1,1,a\n", HEADER + "1,1:2:3:4,1,a\n",
                 HEADER + "1,1,0,a\n", "submit,start,end,gpus\n1,9,5,1\n",
                 "submit,start,end,gpus\n1,2,170925121270,1\n",
                 "submit_s,duration_s,num_gpus,priority\n1,1,1,high\n", b"\xff\xfe\x00binary\n",
                 HEADER + "2023-02-29T00:00:00,1,1,a\n", HEADER + "2024-02-30T00:00:00,1,1,a\n",
                 HEADER + "2024-04-31T00:00:00,1,1,a\n", HEADER + "2024-01-01T24:00:00,1,1,a\n",
                 HEADER + "2024-01-01T00:00:00 PM,1,1,a\n", HEADER + "2024-01-01,1,1,a\n",
                 HEADER + "2024-01-01T00:00:00+25:00,1,1,a\n", HEADER + "1,-0:30,1,a\n",
                 "submit_s,duration_s,num_gpus,num_gpus\n1,1,1,2\n",
                 "submit_s,Submit S,duration_s,gpus\n1,2,1,1\n",
                 b"\x00" * 64, "x" * 5000]
        for case in cases:
            path = self.write(case)
            done = run(path, "--nodes", 8, "--plots", self.folder / "never")
            self.assertEqual(done.returncode, 2, case[:80])
            self.assertEqual(done.stdout, "", case[:80])
            lines = [line for line in done.stderr.splitlines() if not line.startswith("hint:")]
            self.assertEqual(len(lines), 1, done.stderr)
            self.assertRegex(lines[0], rf"^myriad: {path}:\d+:\d+: ", case[:80])
            self.assertFalse((self.folder / "never").exists())
        self.assertNotEqual(run(self.folder / "nothing.csv", "--nodes", 8).returncode, 0)

    def test_drawn_traces_are_the_same_each_time(self):
        summary = self.write("id,gpu_job_num,avg_run_time_gpu,med_run_time_gpu,max_run_time_gpu,"
                             "avg_gpu_num,max_gpu,complete_gpu_time,cancel_gpu_time,fail_gpu_time\n"
                             "small,500,1500,120,90000,6,64,12000000,5000000,1000000\n", "sum.csv")
        command = [sys.executable, ROOT / "tools/sched/summary_trace.py", summary, "--cluster",
                   "small", "--gpus", "128"]
        first = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        again = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(first, again)
        result = self.result(self.write(first), "--nodes", 16)
        self.assertEqual(result["jobs"], 500)


class Memory(unittest.TestCase):
    """A long trace needs memory for its jobs, not for its text, and few bytes for each job."""

    BASE_BYTES = 32 << 20
    JOB_BYTES = 80

    def peak(self, text, *arguments):
        """The most memory that a replay of this text from standard input held, in bytes."""
        program = ("import resource, subprocess, sys\n"
                   "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)\n"
                   "sys.exit(done.returncode)\n")
        with tempfile.TemporaryFile() as file:
            for block in text:
                file.write(block)
            size = file.tell()
            file.seek(0)
            done = subprocess.run([sys.executable, "-c", program, str(MYRIAD), "sched", "replay",
                                   "-", *map(str, arguments)], stdin=file, capture_output=True,
                                  timeout=180, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout), size

    @unittest.skipIf("-asan" in str(MYRIAD), "sanitizers have a memory of their own")
    def test_a_trace_of_100_mb_stays_below_its_own_size(self):
        def rows():
            yield b"JobID,User,Submit,State,Partition,NodeList,Elapsed,num_gpus\n"
            block = "".join(f"%d,user{i % 97},%d,COMPLETED,gpu-long-{i % 5},"
                            f"node[{i:05d}-{i + 3:05d}] of the pool of nodes that are rented,"
                            f"{(i * 7919) % 1500},{1 << i % 4}\n" for i in range(1000)).encode()
            for first in range(0, 1000000, 1000):
                yield block % tuple(n * m for n in range(first, first + 1000) for m in (1, 9))
        peak, size = self.peak(rows(), "--nodes", 64)
        self.assertGreater(size, 95 << 20)
        self.assertLess(peak, self.BASE_BYTES + 1000000 * self.JOB_BYTES)
        self.assertLess(peak, 1.2 * size)

    @unittest.skipIf("-asan" in str(MYRIAD), "sanitizers have a memory of their own")
    def test_short_rows_have_the_same_bound_for_each_job(self):
        block = "".join(f"%d,{(i * 7919) % 1500},{1 << i % 4},v{i % 9}\n"
                        for i in range(1000)).encode()
        rows = (block % tuple(range(first * 9, (first + 1000) * 9, 9))
                for first in range(0, 400000, 1000))
        peak, _ = self.peak((HEADER.encode(), *rows), "--nodes", 64)
        self.assertLess(peak, self.BASE_BYTES + 400000 * self.JOB_BYTES)


if __name__ == "__main__":
    unittest.main()
