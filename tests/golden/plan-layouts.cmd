# Layouts that somebody else wrote, with a box too few or too many of each kind, boxes of one tier or
# network in the place of another's, and names that leave open which is meant.
printf 'name: own\nservers: 12\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 8}\n  storage: {}\n  service: {}\n  oob: {}\nroom: {rows: 6, columns: 8, rack_kw: 150}\n' > own.yaml
myriad plan own.yaml --out own > /dev/null
audit() {
  { echo 'rack,item,count'; cat; } > layout.csv
  myriad plan audit own/bom.csv --spec own.yaml --layout layout.csv -o csv > said.csv 2> err.txt; echo "== $* [$?]"
  tail -n +2 said.csv; cat err.txt
}
boxes=('GPU server' 'compute leaf' 'compute spine' 'storage leaf' 'service access switch' 'service aggregation switch' 'oob access switch' 'oob aggregation switch')
right=(12 16 2 1 2 4 1 2)
lines() { for i in "${!boxes[@]}"; do echo "R$i,${boxes[i]},${now[i]}"; done; }
now=("${right[@]}"); lines | audit as planned
for i in "${!boxes[@]}"; do
  now=("${right[@]}"); now[i]=$((right[i] - 1)); lines | grep -v ',0$' | audit "${boxes[i]}: one too few"
  now[i]=$((right[i] + 1)); lines | audit "${boxes[i]}: one too many"
done
now=(12 15 3 1 2 4 1 2); lines | audit a spine for a leaf
now=(12 15 2 2 2 4 1 2); lines | audit a leaf of storage for one of compute
now=(12 16 2 1 3 4 0 2); lines | grep -v ',0$' | audit an access switch of service for one of oob
now=("${right[@]}")
lines | sed 's/compute leaf/leaf/; s/storage leaf/leaf/' | audit leaves of whatever network
lines | sed 's/compute leaf/InfiniBand switch/; s/compute spine/InfiniBand switch/' | audit switches of whatever tier
lines | sed 's/compute leaf/MQM9790-NS2F/; s/compute spine/MQM9700-NS2F/' | audit by their parts, one of them another
lines | sed 's/GPU server/h100-8gpu/; s/service access switch/switch/' | audit an access switch that is only a switch
lines | sed 's/GPU server/h200-8gpu/' | audit other servers
lines | sed 's/,12$/,x/' | audit no number
