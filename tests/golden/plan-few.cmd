# Clusters of one to nine servers, of every topology, with odd numbers everywhere: what can flow, what
# is found, and a digest of the whole answer.
plan() {
  printf 'name: few\nservers: %s\nserver: %s\nnetworks:\n  compute: {%s}\n%b' "$1" "$2" "$3" "${4-}" > s.yaml
  echo "== $1 $2 $3: $(myriad plan s.yaml -o json 2>&1 | md5sum)"
  myriad plan s.yaml 2>&1 | sed -n '/^Networks/,/^$/p;/^Findings/,/^$/p;/^myriad/p;/^hint/p' | grep -vE '^(Networks|NETWORK|Findings|)$'
}
ib='switch: mqm9790-ns2f'
for servers in 1 2 3 5 9; do
  plan $servers h100-8gpu "$ib" '  storage: {}\n  service: {}\n  oob: {}\n'
  plan $servers h100-8gpu "$ib, topology: clos, leaf_down: 8, leaf_up: 8"
  plan $servers h100-8gpu "$ib, topology: rail-only"
  plan $servers h100-8gpu "$ib, tiers: 3, leaf_down: 4, leaf_up: 4"
  plan $servers h100-8gpu "$ib, topology: dragonfly, group_switches: 2, hosts_per_switch: 4, global_ports: 1"
  plan $servers h100-8gpu "$ib, topology: dragonfly+"
  plan $servers generic-1gpu "$ib, topology: torus, dims: [3, 3]"
  plan $servers generic-1gpu "$ib, topology: torus, dims: [2, 2, 3], trunk: 2"
  plan $servers b300-8gpu "topology: twin-planar, switch: sn5600"
  plan $servers h100-8gpu-2x200 "$ib, topology: dual-tor"
  plan $servers h100-8gpu "switch: sn5600, oversubscription: [3, 1]"
done
