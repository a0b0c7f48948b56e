myriad plan examples/h100-64.yaml --out d >/dev/null 2>&1
myriad route apply d/design.myr --permutation 1 --out lfts
myriad route tables d/design.myr --permutation 1 --dump lfts
myriad route apply d/design.myr --permutation 1 --policy static --out static
myriad route tables d/design.myr --permutation 1 --dump static
head -n 3 lfts
printf 'name: four\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: sn5600, nic_ports: 2, rails: 2, leaf_down: 2, leaf_up: 2}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
printf 'from,to\nnode/00000:nic0,node/00002:nic0\nnode/00001:nic0,node/00003:nic0\nnode/00002:nic1,node/00001:nic1\n' > flows.csv
printf 'device,seed\nleaf/p0-g0-r0,1\nleaf-p0-g1-r1,2\nspine/p0-0,3\n' > seeds.csv
printf 'device,port\nleaf/p0-g0-r0,2/2\nleaf/p0-g0-r0,swp2s0\n' > order.csv
myriad route apply e/design.myr --for roce --hash linux --seeds seeds.csv --order order.csv --flows flows.csv --out c.csv
cat c.csv
