look() { printf "name: $1\nservers: $2\nserver: $3\nnetworks:\n  compute: {$4}\n" > s.yaml; myriad plan s.yaml --out $1 >/dev/null 2>&1 || echo "no plan for $1"; echo "== $1"; D=$1/design.myr
myriad route failover $D -o csv
myriad route failover $D --permutation 1 --policy ecmp -o csv
myriad route degraded $D --dead link/00000003 -o csv
myriad route degraded $D -o csv
myriad route blast $D --of node/00001,node/00000 --permutation 1
myriad route $D --permutation 2 -o csv
myriad route $D --layout tp=2,pp=2 --axis all --pattern all-to-all --policy planned -o csv; }
look rails 64 h100-8gpu "switch: mqm9790"
look tree 12 generic-1gpu "topology: clos, switch: mqm9790, nic_gbps: 400, tiers: 3, leaf_down: 2, leaf_up: 2, pod_leaves: 2"
look planes 8 h100-8gpu-2x200 "switch: sn5600, nic_gbps: 200, topology: dual-tor, leaf_down: 4, leaf_up: 4"
look torus 8 generic-1gpu "topology: torus, switch: mqm9790, dims: [4, 2]"
look dragonfly 12 generic-1gpu "topology: dragonfly, switch: mqm9790, global_ports: 1, group_switches: 2, hosts_per_switch: 2"
look thin 4 generic-1gpu "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 2, leaf_up: 1"
D=rails/design.myr
myriad route failover $D --all -o csv | head -n 80
myriad route degraded $D --dead spine/p0-0,leaf/p0-g0-r0,link/00000570
myriad route blast $D --of rail-group/0,rail-group/1,spine/p0-1,leaf/p0-g1-r3 --permutation 5
