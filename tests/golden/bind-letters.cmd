# Names of a binding are found in a list whatever the letters: hosts, switches, GUIDs.
printf 'name: few\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 4}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null 2>&1
myriad export ibnetdiscover d/design.myr | sed -E 's/024d59520/b83fd2030/g; s/node-([0-9]{5})-nic([0-9])/Gpu\1 mlx5_\2/g; s/"leaf-p0-g0-r([0-9])"/"LeafX\1"/g' > there.txt
myriad bind d/design.myr there.txt --by-wiring --out b.yaml; echo $?
sed -n 1,60p b.yaml
ask() { echo "== $*"; myriad verify d/design.myr "$@" --binding b.yaml 2>&1 | sed -n '1,20p;/^Notes/,$p'; echo "[${PIPESTATUS[0]}]"; }
ask there.txt
tr a-z A-Z < there.txt | sed 's/^SWITCH/Switch/; s/^CA/Ca/; s/^VENDID/vendid/; s/^DEVID/devid/; s/^SYSIMGGUID/sysimgguid/; s/^SWITCHGUID/switchguid/; s/^CAGUID/caguid/; s/ LID / lid /; s/XNDR/xNDR/g; s/0X/0x/g; s/"S-/"S-/g; s/"H-/"H-/g' > loud.txt; ask loud.txt
sed 's/Gpu/gPU/g; s/LeafX/lEAFx/g' there.txt > mixed.txt; ask mixed.txt
myriad export p2p d/design.myr | sed -E 's/node-([0-9]{5})/GPU\1/g; s/leaf-p0-g0-r/LEAFX/g' > list.csv; ask list.csv
sed 's/GPU/gpu/g' list.csv > small.csv; ask small.csv
sed 's/GPU/other/g' list.csv > other.csv; ask other.csv
