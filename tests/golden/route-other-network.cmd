# A link or a device of another network is not on this one: its death there would be no news.
myriad plan examples/h100-64.yaml --out d > /dev/null
no() { echo "== $*"; myriad "$@" 2>&1 > /dev/null; echo "exit $?"; }
for odd in spine/p0-0 leaf/p0-g0-r0 link/00000000; do
  no route d/design.myr --net storage --dead $odd --policy ecmp
  no route degraded d/design.myr --net storage --dead $odd
  no path d/design.myr --net storage --dead $odd
  no sim --design d/design.myr --net storage --workload permutation:1MB --fault $odd:down@1us
done
no route failover d/design.myr --net storage --device spine/p0-0
no route failover d/design.myr --net storage --link link/00000000
no route blast d/design.myr --net storage --of spine/storage-p0-0,spine/p0-0
no route d/design.myr --dead spine/storage-p0-0
# A node is on all of them.
no route degraded d/design.myr --net storage --dead node/00003,spine/storage-p0-0
