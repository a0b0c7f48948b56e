#!/usr/bin/env python3
"""What a Job's container would run, run here: a process a GPU, with its rank.

    tests/kubernetes/launch.py MYRIAD

The Job is printed by 'myriad kubernetes job'; $(NAME) and $$ are treated as a kubelet does it, the
annotations are those that a scheduler would have written.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

NOTES = {"myriad/rank": "1", "myriad/world-size": "2", "myriad/master-addr": "10.0.0.7",
         "myriad/placement": "p-1"}


def expand(text, known):
    """As kubelets do: $$ is $, $(NAME) the value, and unknown names stay."""
    def one(found):
        if found.group() == "$$":
            return "$"
        return known.get(found.group(1), found.group())
    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


def container(myriad, folder, text):
    path = os.path.join(folder, "job.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([myriad, "kubernetes", "job", path, "--image", "x", "--gpus-per-node",
                           "2"], capture_output=True, text=True, check=True)
    spec = json.loads(done.stdout)["spec"]["template"]["spec"]["containers"][0]
    known = {}
    for entry in spec["env"]:
        field = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        known[entry["name"]] = NOTES[re.search(r"\['(.*)'\]", field).group(1)] if field else \
            expand(entry["value"], known)
    words = [expand(word, known) for word in spec["command"]]
    return subprocess.run(words, env={"PATH": os.environ["PATH"], **known}, capture_output=True,
                          text=True, timeout=120, check=False, start_new_session=True)


def main():
    myriad = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        done = container(myriad, folder, "gpus: 4\nenv: {A: '$$(RANK) $RANK'}\ncommand: |\n"
                         "  echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK"
                         " $MASTER_ADDR $(echo sub) \"$A\"\n")
        assert done.returncode == 0, done
        assert sorted(done.stdout.splitlines()) == [
            f"{rank} 4 {rank - 2} 2 1 10.0.0.7 sub $$(RANK) $RANK" for rank in (2, 3)], done.stdout
        # Words are handed on as they are.
        done = container(myriad, folder, "gpus: 4\ncommand: [printf, '%s|%s\\n', 'a b', '$RANK']\n")
        assert done.stdout == "a b|$RANK\n" * 2, done
        # One that fails ends the others.
        done = container(myriad, folder, "gpus: 4\ncommand: if [ $LOCAL_RANK = 1 ]; then exit 3; "
                         "else exec sleep 15; fi\n")
        assert done.returncode != 0, done
    print("ok")


if __name__ == "__main__":
    main()
