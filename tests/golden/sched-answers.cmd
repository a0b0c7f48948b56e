# Replays and placements of each kind, the whole answer for people and for programs.
ask() { echo "== $*"; myriad sched "$@" -o wide; echo $?; myriad sched "$@" -o json; }
myriad plan examples/h100-64.yaml --out d >/dev/null
myriad fit --model llama3-8b --gpus 16 --device h100 --batch 32 --layout-out layout.yaml >/dev/null
ask replay data/jobs.csv --nodes 4
ask replay data/jobs.csv --nodes 4 --leaf-nodes 2 --own org/vision=1n,3w --explain longest --policy preempt
ask replay data/jobs.csv --nodes 3 --leaf-nodes 1 --explain 2 --policy first-fit --jitter 500 --seed 3
ask replay data/recorded-jobs.csv --nodes 2 --leaf-nodes 2 --explain b-2
ask replay data/jobs.csv --design d/design.myr --policy fifo --explain 2
ask place --design d/design.myr --nodes 8
ask place --design d/design.myr --nodes 8 --gpus-per-node 1 --state data/cluster-state.csv
ask place --design d/design.myr --nodes 8 --tp 8 --pp 4 --model llama3-8b --batch 64
ask place --design d/design.myr --layout layout.yaml --model llama3-8b
ask place --design d/design.myr --nodes 20 --state data/cluster-state.csv --within leaf
ask place --design d/design.myr --nodes 40 --state data/cluster-state.csv --tp 8 --pp 2
# Waits of years: units are whole.
printf 'job_id,submit_s,duration_s,num_gpus,vc\na,0,90000000,32,x\nb,7,80000001,32,y\nc,1234567,50000000,16,x\nd,99999999,3,1,z\n' > years.csv
ask replay years.csv --nodes 4 --leaf-nodes 2 --explain longest
ask replay years.csv --nodes 4 --leaf-nodes 2 --explain b
ask replay years.csv --nodes 3 --leaf-nodes 2
