cat > a.goal <<'X'
num_ranks 6
rank 0 {
l1: calc 1000
l2: send 100000b to 1 tag 3
l3: send 50000b to 2 tag 3
l2 requires l1
l3 irequires l2
}
rank 1 {
l1: recv 100000b from 0 tag 3
l2: calc 2000
l3: send 70000b to 5 tag 9
l2 requires l1
l3 requires l2
}
rank 2 { l1: recv 60000b from 0 tag 3
l2: send 80000b to 5 tag 9
l2 requires l1 }
rank 5 { l1: recv 70000b from 1 tag 9
l2: recv 80000b from 2 tag 9
l3: calc 500
l3 requires l1
l3 requires l2 }
X
cat > star.txt <<'X'
9 3 10
2 6 8
0 6 100Gbps 1us 0
1 6 100Gbps 1us 0
3 8 100Gbps 1us 0
4 8 100Gbps 1us 0
5 6 100Gbps 1us 0
7 8 100Gbps 1us 0
6 2 200Gbps 0.002ms 0
8 2 200Gbps 2000ns 0
6 2 200Gbps 2us 0
8 2 200Gbps 2us 0
X
cat > flow.txt <<'X'
4
0 1 3 100 500000 2
4 0 3 100 500000 2.000001
3 7 3 101 250000 2.00001
5 7 0 102 125000 2.5
commentary
X
cat > chain.cm <<'X'
Nodes 8
Connections 4
Triggers 2
0->5 id 1 start 0 size 2000000 send_done_trigger 1
5->7 id 2 trigger 1 size 2000000 recv_done_trigger 2
3->4 id 3 start 5000000 size 1000000 prio 2 send_done_trigger 2
7->0 id 4 trigger 2 size 0
trigger id 1 oneshot
trigger id 2 barrier count 2
X
cat > two.topo <<'X'
Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 300
Tier 1
Downlink_speed_Gbps 50
Radix_Down 4
Downlink_Latency_ns 700
Switch_Latency_ns 300
X
cat > three.topo <<'X'
Nodes 16
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
X
cat > moe.txt <<'X'
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0
4
grad -1 1000 NONE 0 1000 NONE 0 1000 ALLGATHER 62900 100
moe -1 5000 ALLTOALL_EP 25000 1000 ALLREDUCE 70000 1000 REDUCESCATTER_DP_EP 90000 1000
mlp -1 0 ALLREDUCE 40000 1 ALLTOALL_EP 7000 20 ALLREDUCE_DP_EP 9000 0
end -1 1.5 ALLGATHER 3 0 NONE 0 0 REDUCESCATTER 5000 7
X
ask() { echo "$*"; myriad sim "$@" --fct f.csv -o json | grep -E '"(gpus|leaf|spine|core|link|switch|flows|transfers|sim_time_us|mean|p50|p99|max|full_share|end_us|alone_us|slowdown|events|solved|hash)"' | tr -d ' \n'; echo; cat f.csv; }
ask --topology fat-tree:k=4 --workload file:a.goal
ask --topology file:star.txt --workload file:flow.txt
ask --topology file:star.txt --workload file:a.goal,format=goal
ask --topology file:star.txt,format=hpcc --job permutation:1KB --job file:flow.txt,format=hpcc
ask --topology file:two.topo --workload file:chain.cm,endless=10KB --lb spray
ask --topology file:three.topo --workload file:chain.cm,endless=1MB --lb ecmp
ask --topology fat-tree:k=4 --workload file:moe.txt
ask --topology file:three.topo,format=htsim --job file:moe.txt --job file:a.goal --job permutation:10KB
printf 'name: eight\nservers: 8\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790, leaf_down: 4, leaf_up: 2, tiers: 2}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
sed 's/all_gpus: 16/all_gpus: 32/' moe.txt > moe32.txt
sed 's/NPU_group: 2 ep: 2/NPU_group: 8 ep: 2/; s/all_gpus: 16/all_gpus: 64/' moe.txt > moe64.txt
for f in moe moe32 moe64; do ask --design e/design.myr --workload file:$f.txt | head -n 120; done
ask --design e/design.myr --workload file:a.goal
cat a.goal | myriad sim --topology fat-tree:k=4 --workload file:-,format=goal
myriad sim --topology file:three.topo --workload file:chain.cm
