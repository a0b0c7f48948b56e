printf 'name: four\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: sn5600, nic_ports: 2, rails: 2, leaf_down: 2, leaf_up: 2}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
myriad route apply e/design.myr
myriad route aply e/design.myr --out x
printf 'device,seed\nleaf/p9,1\n' > a.csv
myriad route apply e/design.myr --for roce --seeds a.csv --out x
printf 'device,seed\nleaf/p0-g0-r0,-1\n' > a.csv
myriad route apply e/design.myr --for roce --seeds a.csv --out x
printf 'device,seed\n' > a.csv
myriad route apply e/design.myr --for roce --seeds a.csv --out x
printf 'device,port\nleaf/p0-g0-r0,99/1\n' > a.csv
myriad route apply e/design.myr --for roce --order a.csv --out x
printf 'device,port\nleaf/p0-g0-r0\n' > a.csv
myriad route apply e/design.myr --for roce --order a.csv --out x
printf 'no tables\n' > t
myriad route tables e/design.myr --dump t
myriad route tables e/design.myr --dump none
