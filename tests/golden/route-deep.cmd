# Deep and odd fabrics under every policy, whole and with dead links, spines and cores: loads, what is
# left, what a failure costs, and a checksum of the paths themselves.
spec() { printf 'name: %s\nservers: %s\nserver: %s\nnetworks:\n  compute: {%s}\n' "$1" "$2" "$3" "$4" > s.yaml; myriad plan s.yaml --out $1 > said.txt 2>&1 || cat said.txt; }
spec slim 40 h100-8gpu 'switch: mqm9790, leaf_down: 8, leaf_up: 4, tiers: 3'
spec pods 70 h100-8gpu 'switch: mqm9790-ns2f, tiers: 3, pod_leaves: 16'
spec isle 90 h100-8gpu 'switch: mqm9790-ns2f, tiers: 3, islands: 3'
spec fly 72 generic-1gpu 'switch: mqm9790-ns2f, topology: dragonfly, group_switches: 4, hosts_per_switch: 2, global_ports: 2'
spec plus 64 h100-8gpu 'switch: mqm9790-ns2f, topology: dragonfly+'
spec torus 24 h100-8gpu 'switch: mqm9790-ns2f, topology: torus, dims: [2, 3, 4]'
ask() { echo "== $*"; myriad "$@" 2>&1; }
for name in slim pods isle fly plus torus; do
  D=$name/design.myr
  case $name in
    slim) dead=spine/p0-0,core/g0-1 ;; pods) dead=spine/p0-1,link/00000700 ;;
    isle) dead=core/g0-0,core/g1-1 ;; fly) dead=router/g0-1 ;; plus) dead=spine/g0-0 ;;
    torus) dead=link/00000260 ;;
  esac
  for flows in "--permutation 3" "--layout tp=2,pp=2 --axis all --pattern all-to-all --nodes 0-7"; do
    ask route $D $flows -o csv
    ask route $D $flows --dead $dead --seed 7 -o csv
    for policy in ecmp spray adaptive planned; do
      myriad path $D $flows --dead $dead --policy $policy -o json 2>&1 | cksum
    done
  done
  ask route failover $D --permutation 3 --policy planned
  ask route failover $D --permutation 3 --policy adaptive --dead $dead
  ask route degraded $D --dead $dead
  ask route blast $D --of ${dead%,link*} --permutation 3
done
