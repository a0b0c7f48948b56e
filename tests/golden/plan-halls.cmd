# Rooms of many kinds: what is said, and a digest of the whole answers and of each file.
look() {
  echo "== $1"; shift
  myriad "$@" > said.txt 2> err.txt; code=$?
  sed -n '1,/^Bill of materials/p' said.txt | sed '/^Bill of materials/d'; sed -n '/^Findings/,/^next/p' said.txt
  echo "[$code] $(md5sum < said.txt)"; cat err.txt
}
plan() {
  printf "name: hall\nservers: $2\nserver: h100-8gpu\nnetworks:\n$3\n$4\n" > s.yaml
  look "$1" plan s.yaml --out d --crews 2
  myriad plan s.yaml -o json 2>&1 | md5sum; myriad plan s.yaml --explain 2>&1 | md5sum
  (cd d 2> /dev/null && find . -type f | LC_ALL=C sort | xargs md5sum); rm -rf d
}
ib='  compute: {switch: mqm9790-ns2f}'
more="$ib\n  storage: {}\n  service: {}\n  oob: {}"
for place in aligned shortest; do
  plan "6 x 10, $place" 20 "$ib" "room: {rows: 6, columns: 10, rack_kw: 22, place: $place}"
  plan "few crossings, $place" 16 "$more" "room: {rows: 5, columns: 6, rack_kw: 22, place: $place, trays: {cross_rows: [1, 5], width_mm: 50, height_mm: 20}}"
  plan "managed, $place" 12 "$more" "room: {rows: 6, columns: 8, rack_kw: 22, managed: true, place: $place}"
  plan "buildings, $place" 24 '  compute: {switch: mqm9790-ns2f, tiers: 3, leaf_down: 8, leaf_up: 8}' "room: {rows: 4, columns: 5, rack_kw: 22, place: $place, buildings: [{name: north}, {name: south, rows: 6, columns: 3}], distance_m: 80}"
done
plan 'one row' 12 "$ib" 'room: {rows: 1, columns: 20, rack_kw: 44, rack_u: 48, aisles: {every: 3, width_m: 2.4}, pitch_m: {row: 0.75, column: 2.5}, drop_m: 1.5, slack: {percent: 3, m: 0.5}}'
plan 'trunks and zones' 32 "$ib" 'room: {rows: 7, columns: 9, rack_kw: 15, server_kw: 10, leaf_rows: 5-4, spine_column: E, trunks: {cables: 12, panel_ports: 72}, lossless_classes: 2}'
plan 'power and cooling' 16 "$more" 'room: {rows: 6, columns: 6, rack_kw: 22, power: [{name: ups-a, kw: 150}, {name: ups-b, kw: 300}, {name: pdu-a, kw: 120, parents: [ups-a, ups-b], columns: A-C}, {name: pdu-b, parents: [ups-b], rows: 1-6}], cooling: [{name: cdu-1, kw: 90, columns: A-B}, {name: cdu-2, kw: 400, columns: C-F}]}'
plan 'light racks' 8 "$ib" 'room: {rows: 6, columns: 10, rack_kw: 60, rack_kg: 420}'
for small in 'rows: 2, columns: 2, rack_kw: 15' 'rows: 6, columns: 6, rack_kw: 9' 'rows: 6, columns: 6, rack_kw: 15, rack_u: 7' 'rows: 6, columns: 6, rack_kw: 15, rack_kg: 100'; do
  plan "too small: $small" 24 "$ib" "room: {$small}"
done
