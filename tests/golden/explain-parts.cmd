# What is explained below 'racks', 'devices', 'report' and 'next': how it begins, and a digest of all.
printf 'name: hall\nservers: 6\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f}\n  storage: {}\n  service: {}\n  oob: {}\nstorage: {server: flash-22x15, capacity_tb: 500}\nroom: {rows: 4, columns: 6, rack_kw: 44, managed: true}\n' > room.yaml
printf 'name: tiers\nservers: 12\nserver: h100-8gpu\nnetworks:\n  compute: {topology: clos, switch: mqm9790-ns2f, tiers: 3, leaf_down: 8, leaf_up: 8, fabric_manager_ports: 2}\nprices: cn-2024-05\n' > tiers.yaml
for spec in room tiers; do
  for path in racks devices report next networks power cooling bom totals ''; do
    myriad explain plan $spec.yaml $path -o csv > said.txt 2> err.txt; code=$?
    echo "== $spec $path: $code, $(wc -l < said.txt) lines, $(md5sum < said.txt | cut -c1-12)"
    sed -n 2,5p said.txt; cat err.txt
  done
done
myriad explain plan examples/h100-64.yaml next --next examples/h100-128.yaml -o csv > said.txt; echo "next: $?, $(wc -l < said.txt) lines, $(md5sum < said.txt | cut -c1-12)"
head -n 12 said.txt
