# Placements and replays of many shapes: nodes, waits, costs.
myriad plan examples/h100-128.yaml --out e >/dev/null 2>&1
place() { echo "== $*"; myriad sched place --design e/design.myr "$@" -o json 2>&1 | sed '/"question"/,/^  },/d'; }
place --nodes 5
place --nodes 17 --tp 8 --pp 17
place --nodes 12 --tp 4 --pp 3 --ep 2
place --nodes 32 --tp 8 --pp 8 --cp 2
place --nodes 24 --tp 8 --pp 3 --leaf-max 4
for policy in fifo first-fit fair preempt; do
  for shape in "--nodes 520 --leaf-nodes 8" "--nodes 512 --leaf-nodes 24 --gpus-per-node 8"; do
    echo "== $policy $shape"
    myriad sched replay examples/day-of-jobs.csv $shape --policy $policy -o json 2>&1 | sed '/"question"/,/^  },/d'
  done
done
