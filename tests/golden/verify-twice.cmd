# Lists that contradict themselves: ports with two neighbours, switches under two names, in either
# order; names are the site's own, so that neighbours alone can tell what is what.
printf 'name: four\nservers: 8\nserver: h100-8gpu\nnetworks:\n  compute: {switch: sn5600, leaf_down: 8, leaf_up: 8}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null 2>&1
myriad export p2p d/design.myr > right.csv
cat > change.py <<'P'
import re, sys
rows = open("right.csv").read().splitlines()
head, rows = rows[0], rows[1:]
kind, share, first = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "first"
cards = ["ha", "vu", "ki", "mo", "ze", "ba", "ru", "ti"]
leaves = ["oak", "elm", "ash", "fir", "yew", "bay", "fig", "gum"]
own = [re.sub(r"nic(\d)", lambda m: cards[int(m[1])], re.sub(r"leaf-p0-g0-r(\d)", lambda m: leaves[int(m[1])],
       re.sub(r"node-(\d+)", r"host\1", row))) for row in rows]
if kind == "names":  # a part of oak's cables stand under another name
    of_oak = [i for i, row in enumerate(own) if ",oak," in "," + row + ","]
    part = {i for i in of_oak[:: max(1, len(of_oak) // share)][:share]}
    other = [own[i].replace("oak", "larch") for i in sorted(part)]
    rest = [row for i, row in enumerate(own) if i not in part]
    own = other + rest if first else rest + other
elif kind == "ports":  # cards of one host have two neighbours each
    of_host = [row for row in own if row.startswith("host00003,")][:share]
    wrong = [row.replace(",oak,", ",X,").replace(",elm,", ",oak,").replace(",X,", ",elm,") for row in of_host]
    wrong = [re.sub(r",Host,(\w+),", lambda m: f",Host,{m[1]},", row) for row in wrong]
    own = wrong + own if first else own + wrong
print("\n".join([head, *own]))
P
look() { echo "== $*"; python3 change.py "$@" > found.csv; myriad verify d/design.myr found.csv -o wide > said.txt 2>&1; echo "[$?] $(cksum < said.txt)"; sed -n '1,14p;/^Notes/,/^$/p;/^Steps/,$p' said.txt | head -n 50; myriad bind d/design.myr found.csv 2>&1 | cksum; }
for order in first last; do
  for share in 1 3 7 8 12; do look names $share $order; done
  for share in 1 2 8; do look ports $share $order; done
done
