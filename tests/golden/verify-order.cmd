# NICs with the names that systems give them. Two leaves of one of two groups changed places: half of
# the hosts vote for one port, half for the other, and the order in which systems count decides. At
# the beginning, in the middle, at the end; where the order says nothing; all groups; dual cards.
myriad plan examples/h100-64.yaml --out d > /dev/null
myriad export p2p d/design.myr > right.csv
cat > change.py <<'P'
import re, sys
one, other, groups, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(",")
swap = {one: other, other: one}
for line in open("right.csv"):
    line = re.sub(r"nic(\d)", lambda found: names[int(found[1])], line)
    if line.startswith("node"):
        line = re.sub(rf"-g([{groups}])-r(\d)",
                      lambda found: f"-g{found[1]}-r{swap.get(found[2], found[2])}", line)
    print(line, end="")
P
rising=ibp26s0,ibp60s0,ibp77s0,ibp94s0,IBP156s0,ibp188s0,ibp204s0,ibp220s0
none=ha,vu,ki,mo,ze,ba,ru,ti
cards=a1f0,a2f0,a3f0,a4f0,a1f1,a2f1,a3f1,a4f1
look() {
  echo "== $*"; python3 change.py "$@" > found.csv
  myriad verify d/design.myr found.csv > said.txt; echo "[$?]"; head -n 9 said.txt
}
look 1 2 0 $rising
look 0 1 1 $rising
look 6 7 0 $rising
look 0 7 0 $rising
look 1 2 0 $none
look 1 2 01 $rising
look 1 2 0 $cards
look 0 4 1 $cards
