# Every topology, small and odd: counts, findings, and a digest of each file that is written, of the
# whole answers and of the reasons.
plan() {
  echo "== $1 servers of $2: $3"
  printf 'name: width\nservers: %s\nserver: %s\nnetworks:\n  compute: {%s}\n%b' "$1" "$2" "$3" "${4-}" > s.yaml
  myriad plan s.yaml --out d -o json 2>&1 | sed '/"question"/,/^  },/d;/^  "power": {/,/^  },/d;/^  "cooling": {/,/^  },/d;/^  "figures": \[/,/^  \],/d'
  (cd d 2>/dev/null && md5sum bom.csv cables.csv labels.csv design.json topology.svg report.html bom.xlsx)
  for how in "-o wide" "-o json" --explain; do myriad plan s.yaml $how 2>&1 | md5sum; done
  myriad explain plan s.yaml -o json 2>&1 | md5sum; myriad design d/design.myr -o wide 2>&1 | md5sum
  for n in 0 3; do myriad path d/design.myr --nodes $n-$((n + 1)) -o json 2>&1 | sed '/"question"/,/^  },/d' | md5sum; done
  for f in dot p2p; do myriad export $f d/design.myr 2>&1 | md5sum; done
  rm -rf d
}
ib="switch: mqm9790-ns2f"
plan 32 b300-8gpu "topology: twin-planar, switch: sn5600"
plan 16 b300-8gpu-4x200 "planes: 4, nic_gbps: 200, switch: eth-102t4"
plan 40 h100-8gpu "topology: rail-only, $ib"
plan 36 h100-8gpu "topology: middle-of-rack, $ib"
plan 96 h100-8gpu "topology: islands, switch: sn5600, nic_gbps: 400, oversubscription: [1, 7], islands: 2"
plan 90 h100-8gpu "tiers: 3, islands: 3, $ib"
plan 70 h100-8gpu "tiers: 3, pod_leaves: 16, $ib"
plan 96 h100-8gpu "topology: clos, fill: dense, oversubscription: 2, $ib"
plan 72 generic-1gpu "topology: dragonfly, $ib, group_switches: 4, hosts_per_switch: 2, global_ports: 2"
plan 256 h100-8gpu "topology: dragonfly+, $ib"
plan 64 h100-8gpu "topology: torus, dims: [4, 4, 4], $ib"
plan 12 h100-8gpu "topology: torus, dims: [2, 3, 2], trunk: 4, $ib"
plan 30 h100-8gpu "$ib" '  storage: {extra_nodes: 4}\n  service: {extra_nodes: 4, homes: 1}\n  oob: {extra_nodes: 4}\n'
plan 48 h200-8gpu "switch: sn5600, nic_gbps: 400" '  service: {}\nprices:\n  parts: {sn5600: 123456.5}\nroom: {rows: 3, racks_per_row: 9, rack: rack-48u-60kw, rack_kw: 45}\n'
