# Lists with other dividers and lldpcli's text are named for what they are; texts by device are read.
myriad plan examples/h100-64.yaml --out d > plan.txt
myriad export p2p d/design.myr | tr , ';' > semicolons.csv
myriad export p2p d/design.myr | tr , '\t' > tabs.csv
printf 'lldp.eth0.via=LLDP\n' > keyvalue.txt
myriad verify d/design.myr semicolons.csv; echo $?
myriad verify d/design.myr tabs.csv; echo $?
myriad verify d/design.myr keyvalue.txt; echo $?
printf '{"leaf-p0-g0-r0": {"lldp": {"interface": [{"1/1": {"chassis": {"node-00000": {}}, "port": {"id": {"type": "ifname", "value": "nic0"}}}}]}}}' > lldp.json
myriad verify d/design.myr lldp.json --list ports -o csv | head -n 2; echo $?
printf 'name: s\nservers: 64\n' | iconv -t UTF-16LE | sed '1s/^/\xff\xfe/' > utf16.yaml
myriad plan utf16.yaml; echo $?
