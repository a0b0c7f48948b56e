printf 'name: four\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: sn5600, nic_ports: 2, rails: 2, leaf_down: 2, leaf_up: 2}\n' > s.yaml
myriad plan s.yaml --out d >/dev/null 2>&1
myriad export frr d/design.myr --out frr
ls frr
cat frr/devices.csv frr/links.csv frr/node-00003/frr.conf frr/leaf-p0-g1-r1/frr.conf
