#!/usr/bin/env python3
"""Would the tests notice? Changes single lines of the sources and runs the tests that execute them.

    tools/mutants/mutants.py [--seed 1,2,3] [--count 30] [--module fit,sim]

    make mutants [SEED=1,2,3] [COUNT=30] [MODULE=fit,sim]

For each seed and module COUNT mutants are drawn: a comparison flipped, an operator swapped, a
statement deleted or a constant changed. One that does not compile is drawn again; one whose object
code is the same is counted apart. A mutant is noticed when a test of `make test-quick` (but those
that look at the sources alone) fails or hangs. Only tests that execute the changed line run: the
cheap, the near and those that have noticed most before others, until BUDGET seconds are spent on
one mutant; how many a survivor was not shown to is said. So the figure is a lower bound. With
--near only the module's own tests are asked: minutes a module, to see where tests are missing.

With --twin each mutant that the tests notice is then shown to `myriad twin search` in standard
scenarios, for TWIN_S processor seconds in all: does the twin notice what the tests do? A broken
rule and an abort count; what is cut off by the time does not. A second table and the list of those
that the twin let pass follow.

The end is a table by module and the list of survivors; build/mutants.json holds both. What was
found out is kept in build-mutants: a run that was stopped goes on where it was, and a later one
tries only new mutants and, when anything has changed or with a larger budget, shows survivors to
the tests that have not looked at them.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from draw import stream  # noqa: E402
from judge import Judge  # noqa: E402
from world import Failed, World, digest  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
EVERY_S = 10


class Progress:
    """A line on stderr now and then: what is done, and how long the rest will take."""

    def __init__(self):
        self.start, self.last = time.monotonic(), 0.0
        self.lock = threading.Lock()

    def say(self, text):
        print(f"mutants: {text}", file=sys.stderr, flush=True)

    def step(self, done, total, what):
        with self.lock:
            now = time.monotonic()
            if now - self.last < EVERY_S and done < total:
                return
            self.last = now
        left = (now - self.start) / max(done, 1) * (total - done)
        self.say(f"{done}/{total} {what}, {left / 60:.0f} min left")


class Memory:
    """Outcomes of earlier runs, by the mutant and the text of its file."""

    def __init__(self, world, path, args):
        self.world, self.path, self.near, self.budget = world, path, args.near, args.budget
        self.rows = json.loads(path.read_text()) if path.exists() else {}
        self.tree = digest(*(f.read_bytes() for f in sorted(world.source.rglob("*"))
                             if f.is_file()))
        self.texts = {}
        self.lock = threading.Lock()
        for key, row in self.rows.items():
            self.learn(key.split(":", 1)[0], row)

    def learn(self, file, row):
        """Who noticed will be asked sooner."""
        if "by" in row:
            self.world.kills.update([row["by"], (row["by"], file)])

    def key(self, mutant):
        if mutant.file not in self.texts:
            self.texts[mutant.file] = digest((self.world.source / mutant.file).read_bytes())
        return f"{mutant.key} {self.texts[mutant.file][:16]}"

    def get(self, mutant):
        """What is known; that a mutant survived holds for one tree and the tests asked only."""
        row = self.rows.get(self.key(mutant))
        if row and row["outcome"] == "survived" and (
                row["tree"] != self.tree or row.get("near") and not self.near or
                row.get("unasked") and row.get("budget", 0) < self.budget):
            return None
        return row

    def asked(self, mutant):
        """Tests that have looked at a survivor before: they need not look again while neither they
        nor its file has changed. (If other code has, one might notice now: a lower bound.)"""
        row = self.rows.get(self.key(mutant), {})
        return {name for name, stamp in row.get("asked", {}).items()
                if self.world.stamps.get(name) == stamp}

    def put(self, mutant, row):
        with self.lock:
            self.rows[self.key(mutant)] = {**row, "tree": self.tree}
            self.learn(mutant.file, row)
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(self.rows, indent=1))
            fresh.replace(self.path)


class Run:
    """Draws and judges with a few workers."""

    def __init__(self, world, args, progress):
        self.world, self.args, self.progress = world, args, progress
        self.judge = Judge(world, world.folder / "work")
        shutil.rmtree(self.judge.folder, ignore_errors=True)
        self.memory = Memory(world, world.folder / "outcomes.json", args)
        self.pool = concurrent.futures.ThreadPoolExecutor(args.workers)
        self.lock, self.next_place, self.places = threading.Lock(), 0, {}

    def place(self):
        with self.lock:
            self.next_place += 1
            return self.judge.folder / str(self.next_place)

    def compiled(self, mutant):
        """What the compiler says, from memory when it was asked before."""
        known = self.memory.get(mutant)
        if known:
            known = known["outcome"]
            return known if known in ("broken", "equivalent") else "valid"
        place = self.place()
        outcome = self.judge.compile(mutant, place)
        if outcome == "valid":
            self.places[mutant] = place  # the object is wanted again when tests look at it
        else:
            shutil.rmtree(place)
            self.memory.put(mutant, {"outcome": outcome})
        return outcome

    def draw(self, module, seed):
        """The first COUNT mutants of the seed that can be noticed, and how many are equivalent."""
        valid, equivalent = [], 0
        mutants = stream(self.world.sources(module), seed, module)
        while len(valid) < self.args.count:
            batch = [mutant for _, mutant in zip(range(2 * self.args.workers), mutants)]
            if not batch:
                break
            for mutant, outcome in zip(batch, self.pool.map(self.compiled, batch)):
                if len(valid) == self.args.count:
                    break
                valid += [mutant] if outcome == "valid" else []
                equivalent += outcome == "equivalent"
        return valid, equivalent

    def judged(self, mutant):
        """What became of a mutant."""
        row = self.memory.get(mutant)
        if row and not self.is_for_twin(row):
            return row
        place = self.places.pop(mutant, None)
        if place is None:  # it is known to compile since an earlier run
            place = self.place()
            self.judge.compile(mutant, place)
        if not row:
            row = self.judge.show(mutant, place, self.args.budget, self.memory.asked(mutant))
            row = {**row, "near": self.args.near, "budget": self.args.budget}
        if self.is_for_twin(row):
            row = {**row, "twin": self.judge.search(mutant, place, self.args.twin,
                                                    self.args.twin_s)}
        shutil.rmtree(place, ignore_errors=True)
        self.memory.put(mutant, row)
        return row

    def is_for_twin(self, row):
        """Noticed by tests, and not shown to the twin as it is now."""
        if not self.args.twin or row["outcome"] != "noticed":
            return False
        seen = row.get("twin")
        return not seen or (seen["outcome"] == "survived" and row.get("tree") != self.memory.tree)

    def round(self, rows):
        """Judges each mutant with the tests that are measured."""
        self.progress.start = time.monotonic()
        # Two seeds may draw the same one.
        waiting = {self.pool.submit(self.judged, mutant): mutant
                   for mutant in dict.fromkeys(row[2] for row in rows)}
        found = {}
        for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            mutant = waiting[future]
            found[mutant] = result = future.result()
            twin = result.get("twin", {})
            if twin and self.args.twin:
                self.progress.say(f"twin: {twin['outcome']} {twin['how']}, {twin['cpu_s']:.1f} s: "
                                  f"{mutant.file}:{mutant.line}")
            if result["outcome"] == "survived":
                self.progress.say(f"survived: {mutant.file}:{mutant.line}: "
                                  f"{mutant.diff()}".replace("\n", "\n    "))
            self.progress.step(done, len(waiting), f"{mutant.file}: {result['outcome']}")
        return {row: found[row[2]] for row in rows}

    def all(self):
        """(module, equivalent, [(seed, mutant, outcome)]) of every module asked for."""
        drawn = {}
        for module in self.args.modules:
            for seed in self.args.seeds:
                self.progress.say(f"drawing {self.args.count} of {module}, seed {seed}")
                drawn[module, seed] = self.draw(module, seed)
        rows = [(module, seed, mutant) for (module, seed), (valid, _) in drawn.items()
                for mutant in valid]
        self.world.measure({name for module in self.args.modules + self.args.beside
                            for name in self.world.near(module)}
                           if self.args.near else set(self.world.tests))
        found = self.round(rows)
        for module in self.args.modules:
            yield (module, sum(drawn[module, seed][1] for seed in self.args.seeds),
                   [(row[1], row[2], found[row]) for row in rows if row[0] == module])


def report(results, args):
    """The table and the survivors, on stdout and as JSON."""
    table, survivors = [], []
    for module, equivalent, rows in results:
        noticed = sum(row["outcome"] == "noticed" for _, _, row in rows)
        table.append({"module": module, "drawn": len(rows), "equivalent": equivalent,
                      "noticed": noticed})
        survivors += [{"seed": seed, "module": module, "file": mutant.file, "line": mutant.line,
                       "kind": mutant.kind, "before": mutant.before.strip(),
                       "after": mutant.text.strip(), "executed": row["executed"],
                       "tests": row["tests"], "unasked": row.get("unasked", 0)}
                      for seed, mutant, row in rows if row["outcome"] == "survived"]
    for row in survivors:
        executed = f"{row['tests']} tests ran" if row["executed"] else "no test executes it"
        executed += f", {row['unasked']} not asked" if row["unasked"] else ""
        print(f"{row['file']}:{row['line']}: {row['kind']}, {executed}\n    -{row['before']}\n"
              f"    +{row['after'] or '(deleted)'}")
    total = {"module": "all", **{key: sum(row[key] for row in table)
                                 for key in ("drawn", "equivalent", "noticed")}}
    print(f"\n{'module':<8} {'drawn':>6} {'equivalent':>11} {'noticed':>8} {'%':>6}")
    for row in [*table, total]:
        row["percent"] = round(100 * row["noticed"] / max(row["drawn"], 1), 1)
        print(f"{row['module']:<8} {row['drawn']:>6} {row['equivalent']:>11} "
              f"{row['noticed']:>8} {row['percent']:>6.1f}")
    twin = {"twin": report_twin(results)} if args.twin else {}
    path = args.root / "build" / "mutants.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"seeds": args.seeds, "count": args.count, "modules": table,
                                "all": total, "survivors": survivors, **twin}, indent=1) + "\n")


def report_twin(results):
    """Of what the tests notice: how much `twin search` does, and what it lets pass."""
    table = []
    for module, _, rows in results:
        shown = [(mutant, row["twin"]) for _, mutant, row in rows
                 if row["outcome"] == "noticed" and "twin" in row]
        noticed = sum(seen["outcome"] == "noticed" for _, seen in shown)
        table.append({"module": module, "shown": len(shown), "noticed": noticed})
        for mutant, seen in shown:
            if seen["outcome"] == "survived":
                print(f"{mutant.file}:{mutant.line}: {mutant.kind}, not noticed by twin search\n"
                      f"    -{mutant.before.strip()}\n    +{mutant.text.strip() or '(deleted)'}")
    table.append({"module": "all", **{key: sum(row[key] for row in table)
                                      for key in ("shown", "noticed")}})
    print(f"\n{'module':<8} {'shown':>6} {'by twin':>8} {'%':>6}")
    for row in table:
        row["percent"] = round(100 * row["noticed"] / max(row["shown"], 1), 1)
        print(f"{row['module']:<8} {row['shown']:>6} {row['noticed']:>8} {row['percent']:>6.1f}")
    return table


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", default="1", help="one number, or several with commas: pooled")
    parser.add_argument("--count", type=int, default=30, help="mutants a module and seed")
    parser.add_argument("--module", default="", help="modules with commas; all when empty")
    parser.add_argument("--tests", type=int, default=100000,
                        help="at most so many a mutant beside its module's own: sooner done, and a "
                             "lower bound of what all of them notice")
    parser.add_argument("--budget", type=float, default=60.0,
                        help="processor seconds of tests for one mutant")
    parser.add_argument("--longest", type=float, default=900.0,
                        help="leave tests out that take more seconds than this")
    parser.add_argument("--without", default="", metavar="TESTS",
                        help="leave tests out whose names begin so, such as real/,engines/")
    parser.add_argument("--near", nargs="?", const="", metavar="TESTS",
                        help="only tests of the module itself, and of these modules or names "
                             "besides, such as plan,verify/,e2e/golden-sim")
    parser.add_argument("--twin", nargs="?", const="hard-storm,crash-storm", metavar="SCENARIOS",
                        help="show what the tests notice to twin search in these of examples/twin")
    parser.add_argument("--twin-s", type=float, default=60.0, metavar="S",
                        help="processor seconds of twin search for one mutant")
    parser.add_argument("--keep", action="store_true",
                        help="judge the copy of the last run, and not the tree as it is now")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree; this one if not given")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.seeds = args.seed.split(",")
    args.beside = args.near.split(",") if args.near else []
    args.near = args.near is not None
    args.twin = args.twin.split(",") if args.twin else []
    return args


def prefer_debians_python(folder):
    """As scripts/test does: a version manager's takes 0.14 s to start, and tests start hundreds."""
    if Path("/usr/bin/python3").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "python3").unlink(missing_ok=True)
        (folder / "python3").symlink_to("/usr/bin/python3")
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def main():
    args, progress = arguments(), Progress()
    prefer_debians_python(args.root / "build-mutants" / "python")
    try:
        world = World(args.root, args.root / "build-mutants", args.workers, args.tests,
                      args.longest, progress.say)
        known = sorted(path.name for path in (args.root / "src").iterdir() if path.is_dir())
        args.modules = args.module.split(",") if args.module else known
        unknown = [name for name in args.modules if name not in known]
        if unknown:
            raise Failed(f"no module '{unknown[0]}'; there are {', '.join(known)}")
        world.prepare(args.keep, args.modules + args.beside if args.near else [])
        world.leave_out(tuple(args.without.split(",")) if args.without else ())
        run = Run(world, args, progress)
        report(list(run.all()), args)
        spent = ", ".join(f"{what} {cpu_s:.0f}" for what, cpu_s in sorted(run.judge.spent.items()))
        progress.say(f"processor seconds: {spent or 0}")
    except Failed as failure:
        sys.exit(f"mutants: {failure}")
    except KeyboardInterrupt:
        print("mutants: stopped; the same command goes on from here", file=sys.stderr)
        os._exit(130)  # workers may be in the midst of a test


if __name__ == "__main__":
    main()
