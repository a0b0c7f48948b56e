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
