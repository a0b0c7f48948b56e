# Options that choose the network, the hashes and the groups.
myriad plan examples/h100-64.yaml --out d >/dev/null
for net in compute storage service oob; do
  myriad route --design d/design.myr --net $net --permutation 2 --policy ecmp; echo $?
  myriad route degraded d/design.myr --net $net; echo $?
  myriad path d/design.myr --net $net --permutation 2 -o csv | head -n 3; echo $?
done
for seed in 0 1 2; do
  myriad route d/design.myr --layout tp=8 --policy ecmp --seed $seed
  myriad route failover d/design.myr --device spine/p0-3 --layout tp=8 --policy ecmp --seed $seed
  myriad route blast d/design.myr --of spine/p0-3 --layout tp=8 --policy ecmp --seed $seed
done
for axis in tp dp pp cp ep all; do
  for pattern in ring tree all-to-all; do
    echo "$axis $pattern"; myriad route d/design.myr --layout tp=4,pp=2,cp=2 --axis $axis --pattern $pattern --policy static | sed -n 2p
    myriad path d/design.myr --nodes 0-7 --layout tp=4,pp=2 --axis $axis --pattern $pattern --dead spine/p0-1 --polarised | tail -n 5
  done
done
# Source ports, hashes and seeds of a fabric of Ethernet.
printf 'name: four\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: sn5600, nic_ports: 2, rails: 2, leaf_down: 2, leaf_up: 2}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
printf 'device,seed\nleaf/p0-g0-r0,5\n' > seeds.csv
for more in "" "--hash xor" "--seed 3" "--seeds seeds.csv" "--hash crc16 --seed 9"; do
  echo "== $more"; myriad route apply e/design.myr --for roce --nodes 0-3 --layout tp=8 --out ports.csv $more; echo $?
  myriad route apply e/design.myr --for roce --nodes 0,2 --layout tp=8 --out ports.csv $more -o json | sed '/"question"/,/^  },/d' | tr -d ' \n'; echo
  cat ports.csv
done
myriad route tables e/design.myr --nodes 0-3 --layout tp=8 --dump ports.csv; echo $?
