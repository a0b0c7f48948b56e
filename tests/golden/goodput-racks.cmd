# Racks that are one server of many nodes, servers of one's own, currencies, and what does not go.
printf 'name: racks\nservers: 2\nserver: gb200-nvl72\nnetworks:\n  compute: {switch: mqm9790-ns2f}\n' > s.yaml
myriad plan s.yaml --out racks > /dev/null 2>&1
printf 'name: few\nservers: 8\nserver: h100-8gpu\nprices: {book: cn-2024-05}\n' > s.yaml
myriad plan s.yaml --out few > /dev/null 2>&1
ask() { echo "== $*"; myriad goodput "$@" 2>&1; echo "[$?]"; }
ask --model llama3-8b --design racks/design.myr --batch 144 --tokens 1e12
ask --model llama3-8b --design racks/design.myr --batch 144 --tokens 1e12 -o json
ask --model llama3-8b --design few/design.myr --batch 64 --tokens 1e12
ask --model llama3-8b --design few/design.myr --batch 64 --tokens 1e12 --currency USD
ask --model llama3-8b --design few/design.myr --batch 64 --tokens 1e12 --currency USD --gpu-hour 2
ask --model llama3-8b --design few/design.myr --batch 64 --tokens 1e12 --currency ''
ask --model llama3-8b --design few/design.myr --batch 64 --target 0.9
ask --model llama3-8b --design few/design.myr --batch 64 --device a100-80 --gpus-per-node 4
printf 'name: odd\nservers: 8\nserver: generic-1gpu\n' > s.yaml
myriad plan s.yaml --out odd > /dev/null 2>&1
ask --model llama3-8b --design odd/design.myr --batch 64
