# GPUs that share a NIC share its rate: planned paths load no link above line rate.
printf 'name: s\nservers: 64\nnetworks: {compute: {nic_ports: 4}}\n' > s.yaml
myriad plan s.yaml --out d > plan.txt
myriad route d/design.myr --permutation 1 --policy planned
