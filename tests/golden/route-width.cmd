# Loads, failovers, losses and paths of each kind, the whole answer for people and for programs.
ask() { echo "== $*"; myriad "$@" -o wide; echo $?; myriad "$@" -o json | sed '/"question"/,/^  },/d'; }
myriad plan examples/h100-64.yaml --out d >/dev/null
ask route d/design.myr --permutation 1
ask route d/design.myr --policy planned --layout tp=8 --dead spine/p0-0
ask route d/design.myr --policy ecmp --layout tp=4,pp=4 --axis all --pattern all-to-all
ask route failover d/design.myr
ask route failover d/design.myr --device spine/p0-3 --link link/00000600 --permutation 1
ask route degraded d/design.myr --dead spine/p0-0,link/00000003
ask route blast d/design.myr --of rail-group/0,node/00003 --permutation 1
ask route apply d/design.myr --nodes 0-3 --layout tp=8 --out lfts
ask route tables d/design.myr --nodes 0-3 --layout tp=8 --dump lfts
ask path d/design.myr --nodes 0,9 --layout tp=8 --policy spray
ask path d/design.myr --nodes 0,9,17 --layout tp=4 --policy ecmp --seed 2
# Shares that are no round numbers, a fabric of sevens.
printf 'from,to,share\n0,8,0.123456789\n8,16,0.3333333\n16,0,0.7654321\n1,60,0.1428571\n2,100,0.9876543\n' > flows.csv
printf 'name: odd\nservers: 21\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790, leaf_down: 7, leaf_up: 3}\n' > s.yaml
myriad plan s.yaml --out o >/dev/null 2>&1
ask route o/design.myr --flows flows.csv
ask path o/design.myr --flows flows.csv
ask path o/design.myr --flows flows.csv --policy spray
ask route failover o/design.myr --flows flows.csv
ask route failover o/design.myr --flows flows.csv --all --dead spine/p0-0 | head -n 40
ask route degraded o/design.myr --dead spine/p0-1,link/00000003
ask route blast o/design.myr --of spine/p0-0,rail-group/1,leaf/p0-g0-r0
ask route apply o/design.myr --flows flows.csv --out lfts2
myriad route blast o/design.myr 2>&1
myriad route failover o/design.myr --device spine/p9-9 2>&1
myriad route apply o/design.myr --flows flows.csv 2>&1
