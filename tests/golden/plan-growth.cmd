# From one design to a larger one: tiers, pods, groups of a dragonfly, rooms, prices, denser filling;
# what is said, and a digest of each sheet. Then orders and layouts that somebody else wrote.
spec() { printf "name: $1\nservers: $2\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f$3}\n${4-}" > $1.yaml; }
grow() {
  echo "== $1 to $2 servers:$3 to$4 ${5-}"
  spec old $1 "$3" "${5-}"; spec new $2 "$4" "${6-${5-}}"
  myriad plan grow old.yaml new.yaml --out d --crews 2 > said.txt 2>&1; code=$?
  sed -n '1,/^Bill of materials/p' said.txt | head -n 60; echo "[$code] $(md5sum < said.txt)"
  myriad plan grow old.yaml new.yaml -o json 2>&1 | md5sum
  (cd d 2> /dev/null && find . -type f | LC_ALL=C sort | xargs md5sum); rm -rf d
}
more='  storage: {}\n  service: {}\n  oob: {}\n'
three=', tiers: 3, leaf_down: 8, leaf_up: 8'
grow 8 16 ', leaf_down: 8, leaf_up: 8' ', leaf_down: 8, leaf_up: 8'
grow 16 40 "$three" "$three"
grow 24 40 "$three, pod_leaves: 8" "$three, pod_leaves: 16"
grow 16 48 ', leaf_down: 16, leaf_up: 16' "$three"
grow 40 64 ', fill: dense, oversubscription: 2' ', fill: dense, oversubscription: 2'
grow 24 40 ', topology: clos' ', topology: clos' "$more"
grow 20 28 '' '' "${more}prices: {book: cn-2024-05}\n"
grow 16 24 '' '' "${more}room: {rows: 6, columns: 8, rack_kw: 22, managed: true}\n"
grow 16 24 '' '' "${more}room: {rows: 6, columns: 8, rack_kw: 22}\n" "${more}room: {rows: 6, columns: 8, rack_kw: 33, place: shortest}\n"
grow 16 24 '' '' "" "${more}room: {rows: 6, columns: 8, rack_kw: 33}\n"
grow 24 48 ', topology: dragonfly+' ', topology: dragonfly+'
grow 18 36 ', topology: dragonfly, group_switches: 4, hosts_per_switch: 8, global_ports: 4' ', topology: dragonfly, group_switches: 4, hosts_per_switch: 8, global_ports: 4'
grow 24 16 '' ''
grow 16 16 '' ''
grow 16 32 '' ', nic_gbps: 200'
grow 16 32 ', topology: rail' ', topology: torus, dims: [4, 8]'
audit() { echo "== audit $*"; myriad plan audit "$@" > said.txt 2>&1; echo "[$?] $(md5sum < said.txt)"; head -n 40 said.txt; }
audit data/audit/order-64.csv --spec examples/h100-64.yaml
audit data/audit/order-128.csv --spec examples/h100-128.yaml
audit data/audit/order-128.csv --spec examples/h100-128.yaml --layout data/audit/layout-128.csv
audit data/audit/order-64.csv --spec examples/h100-128.yaml --claims data/audit/claims-128.yaml
spec own 12 '' "${more}room: {rows: 6, columns: 8, rack_kw: 22}\n"
myriad plan own.yaml --out own > /dev/null 2>&1
audit own/bom.csv --spec own.yaml --layout own/racks.csv
sed '3d' own/racks.csv > short.csv; audit own/bom.csv --spec own.yaml --layout short.csv
sed '5s/[0-9][0-9]*/7/' own/bom.csv > other.csv; audit other.csv --spec own.yaml -o wide
awk -F, 'BEGIN{OFS=","} NR>1{$1="A1"} {print}' own/racks.csv > one.csv; audit own/bom.csv --spec own.yaml --layout one.csv
printf 'rack,part,count\nA1,h100-8gpu,2\n,mqm9790-ns2f,1\nA2,h100-8gpu,9\n' > racks.csv; audit own/bom.csv --spec own.yaml --layout racks.csv
printf 'rack,part\n,h100-8gpu\n' > racks.csv; audit own/bom.csv --spec own.yaml --layout racks.csv
printf 'part,quantity\nh100-8gpu,12\nMQM9790-NS2F,x\n' > bad.csv; audit bad.csv --spec own.yaml
printf 'no,columns\n1,2\n' > bad.csv; audit bad.csv --spec own.yaml
