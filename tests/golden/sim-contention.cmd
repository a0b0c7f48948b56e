printf 'name: forty\nservers: 40\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790, leaf_down: 8, leaf_up: 4, tiers: 3}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
for lb in ecmp spray planned; do myriad sim contention --design e/design.myr --lb $lb --seed 3; done
myriad sim contention --design e/design.myr --out other.json | tail -1
myriad sim contention --topology fat-tree:k=4 --out c.json -o csv
cat c.json
