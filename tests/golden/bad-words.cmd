# Words that fit the option and not the question: each is refused in one line, with what would do.
no() { echo "$ myriad $*"; myriad "$@" > out.txt 2>&1 < /dev/null; code=$?; head -n 3 out.txt; echo "[$code]"; }
myriad plan examples/h100-64.yaml --out d > /dev/null
myriad sim --topology fat-tree:k=4 --workload permutation:1MB --save run.state --at 50us > /dev/null
no sim resume run.state --series s.csv
no sim resume run.state --paths p.csv
no sim resume examples/h100-64.yaml
no sim sweep examples/sim/sweep.yaml --shard 5/4
no sim sweep examples/sim/sweep.yaml --shard 0/4
no sim sweep examples/sim/sweep.yaml --shard 1
no sim sweep examples/sim/sweep.yaml --shard 1/4x
no sim --topology fat-tree:k=4 --workload permutation:1MB --at 50us
no sim --topology fat-tree:k=4
no plan optimise examples/h100-64.yaml
no explain plan examples/h100-64.yaml no.such.figure
no compare examples/compare/roce-1k.yaml
no compare d/design.myr d/design.myr --model llama3-8b
no compare d/design.myr d/design.myr --model llama3-8b --in-use 1.5
no compare d/design.myr d/design.myr --model llama3-8b --in-use 0
no explain plan d/design.myr power --prices cn-2024-05
no goodput --gpus 64 --target 1.5
no goodput --gpus 64 --target 0
no goodput --gpus 64 --fault nothing
no goodput --model llama3-8b --device h100 --batch 8
no fit --model llama3-8b --batch 64 --pool h100
no fit --model llama3-8b --batch 64 --pool h100:0
no fit --model llama3-8b --gpus 7 --device h100 --tp 2 --batch 8
no fit why tp=2 --model llama3-8b --device h100 --gpus 16 --batch 32
no fit launch --model llama3-8b --device h100 --gpus 16 --batch 32 --for cron
no route d/design.myr --dead spine/p9-9
no route d/design.myr --flows no.csv --permutation 1
no route blast d/design.myr --of rack/99
no path d/design.myr --nodes 0,99 --layout tp=8
no path d/design.myr --nodes 0-3 --layout tp=7
no path d/design.myr --nodes 0-3,2 --layout tp=8
no route d/design.myr --nodes 5,node/00005 --layout tp=8
no route d/design.myr --layout tp=0
no route d/design.myr --layout tp=8,tp=4
no route d/design.myr --layout tp=8,ppp=2
no route d/design.myr --layout 'täp=8,pp=x'
printf 'layout:\n  tp: 8\n  dp: 2\n  pp: 64\n' > l.yaml
no fit --model llama3-8b --device h100 --layout l.yaml
no sched place --design d/design.myr --nodes 8 --model llama3-8b --layout l.yaml
sweep() { printf "topology: fat-tree:k=4\nworkload: permutation:1MB\n$1\n" > s.yaml; no sim sweep s.yaml; }
sweep 'fault: [link/20:down@1us,\n  "link/{b}:up@2us"]'
sweep 'knobs:\n  size: [1, 2]'
sweep 'seed: 0-99999999'
sweep 'seed: 9-3'
sweep 'queue_pairs: 0-3'
no sched place --design d/design.myr --nodes 0
no sched place --design d/design.myr --nodes 8 --within room
no sched replay data/jobs.csv --nodes 4 --own nobody=1x
no sched replay data/jobs.csv --nodes 4 --explain 999999
no verify d/design.myr data/jobs.csv
no verify orders d/design.myr data/jobs.csv --crews 0
no verify orders d/design.myr data/jobs.csv --colour host
no bind d/design.myr examples/h100-64.yaml
no export p2p d/design.myr --net nothing
no design d/design.myr --device leaf/none
no twin run examples/twin/crash-storm.yaml --seed x
no twin replay examples/twin/crash-storm.yaml
no whatif run.state --lose 1
no explain run.state job/1
no init spec out.yaml --gpus 0
no plan --gpus 100 --server nothing
