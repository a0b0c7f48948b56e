"""twin: how fast a day and 54 days pass, and how long a question to 12,500 nodes takes."""
import json
import subprocess


def run(bench):
    day = [bench.program, "twin", "run", "examples/twin/day-10k.yaml"]
    bench.time("day-10k", day, goal=3.0)
    bench.time("llama3-54d", [bench.program, "twin", "run", "examples/twin/llama3-54d.yaml"],
               goal=60.0, rounds=1)
    state = bench.folder / "state.myr"
    large = bench.folder / "large.yaml"
    large.write_text("cluster: {nodes: 12500, leaf_nodes: 20}\nhours: 2\ncheck_every: 100000000\n"
                     "jobs:\n  - {count: 3000, gpus: {8: 5, 16: 3, 64: 2, 512: 1}, hours: 12,\n"
                     "     arrive_h: [0, 1]}\n")
    if not bench.try_once("12500/state", [bench.program, "twin", "run", large, "--state", state]):
        return
    for name, words in (("lose-leaf", ["--lose-leaf", "3"]), ("submit", ["--submit-gpus", "512"]),
                        ("add", ["--add-gpus", "512"])):
        best = min((ask(bench, state, words) for _ in range(9)), key=lambda t: t["answer_s"])
        bench.figure(f"whatif/{name}", best["answer_s"] * 1e3, "ms", goal=5.0)
        bench.figure(f"whatif/{name}-fork", best["fork_s"] * 1e3, "ms", goal=1.0)


def ask(bench, state, words):
    command = [bench.program, "whatif", state, *words, "-o", "json", "--timing"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            cwd=bench.root, check=False)
    return json.loads(result.stdout)["timing"]
