printf 'name: two\nservers: 2\nserver: h100-8gpu\nnetworks:\n  storage: {switch: mqm9790-ns2f}\n  oob: {}\n' > s.yaml
myriad plan s.yaml --out d >/dev/null 2>&1
myriad export p2p d/design.myr --net all
myriad export dot d/design.myr --net all
myriad export netbox d/design.myr --net all --out nb
cat nb/sites.csv nb/manufacturers.csv nb/device-types.csv nb/devices.csv nb/racks.csv nb/cables.csv
head -n 12 nb/interfaces.csv
