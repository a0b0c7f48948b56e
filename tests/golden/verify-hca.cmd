# What hosts call their ports, as a list or as words: read, or refused with its place.
printf 'name: few\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 4}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null 2>&1
myriad export p2p d/design.myr --out right.csv > /dev/null
# The adapters count down.
sed 's/nic0/mlx5_7/; s/nic1/mlx5_6/; s/nic2/mlx5_5/; s/nic3/mlx5_4/; s/nic4/mlx5_3/; s/nic5/mlx5_2/; s/nic6/mlx5_1/; s/nic7/mlx5_0/' right.csv > down.csv
printf 'note,HCA-Name,Port\n' > map.csv
for i in 0 1 2 3 4 5 6 7; do printf 'x, mlx5_%d ,nic%d \n' $((7 - i)) $i; done >> map.csv
ask() { echo "$ verify $*"; myriad verify d/design.myr down.csv "$@" 2>&1 | grep -v '^\(right\|unseen\|extra\|degraded\|unread\|STATE\|$\)' | head -n 16; echo "[${PIPESTATUS[0]}]"; }
ask
ask --hca-map map.csv
ask --hca-map ' mlx5_7 = nic0 ' --hca-map mlx5_6=nic1
ask --hca-map mlx5_7=nic1 --hca-map mlx5_6=nic0
sed '1s/Port/Pot/' map.csv > bad.csv; ask --hca-map bad.csv
sed '3s/,nic1 //' map.csv > bad.csv; ask --hca-map bad.csv
sed '3s/nic1/nic0/' map.csv > bad.csv; ask --hca-map bad.csv
sed '3s/nic1/nic9/' map.csv > bad.csv; ask --hca-map bad.csv
ask --hca-map mlx5_7=
ask --hca-map none.csv
