# Constraints of a placement, and files beside the answers.
myriad plan examples/h100-64.yaml --out d >/dev/null
place() { echo "== $*"; myriad sched place --design d/design.myr --state data/cluster-state.csv "$@" -o wide; echo $?; }
place --nodes 6 --leaf-max 1
place --nodes 6 --hops 1
place --nodes 6 --hops 3
place --nodes 6 --rack-max 1
place --nodes 6 --row-max 2
place --nodes 6 --exclude 0-40
place --nodes 6 --within domain
place --nodes 40 --min-nodes 8 --tp 8
place --nodes 4 --tp 8 --pp 2 --model llama3-8b --batch 64 --seq 4096 --device a100-80
place --nodes 4 --tp 4 --cp 2 --model llama3-8b --batch 64
place --nodes 4 --tp 2 --ep 8 --model mixtral-8x7b --batch 64 --plot p.svg
cat p.svg
myriad sched replay data/jobs.csv --nodes 4 --plots p --report r.html --schedule s.csv | tail -n 3
for f in p/*; do echo "== $f"; head -c 3000 $f; done; cat s.csv; head -c 6000 r.html
