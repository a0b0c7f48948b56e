# Every format, of fabrics of every kind: which files there are and what is in them, by checksum; the
# shortest of each format in full.
spec() { printf 'name: %s\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {%s}\n' "$1" "$2" > $1.yaml; }
spec ib 'switch: mqm9790-ns2f, leaf_down: 16, leaf_up: 8'
spec roce 'switch: sn5600, nic_ports: 2, rails: 2, leaf_down: 2, leaf_up: 2'
spec tomahawk 'switch: z9864f, leaf_down: 16, leaf_up: 16'
spec torus 'switch: mqm9790-ns2f, topology: torus, dims: [4, 2]'
spec dragonfly 'switch: mqm9790-ns2f, topology: dragonfly, group_switches: 2'
printf 'tenant,nodes\nred,0-1\nblue,3\n' > tenants.csv
for name in ib roce tomahawk torus dragonfly; do
  myriad plan $name.yaml --out $name > /dev/null 2> $name.err || { echo "$name: $(cat $name.err)"; continue; }
  mkdir -p e/$name
  for format in ibnetdiscover ibsim opensm slurm slurm-block dot p2p netbox frr containerlab ansible \
      nccl nccl-topo sonic-sn5600 sonic-z9864f; do
    myriad export $format $name/design.myr --out e/$name/$format > said.txt 2> err.txt ||
      echo "$name $format: $? $(cat err.txt)"
  done
  for format in partitions sonic-sn5600 frr; do
    myriad export $format $name/design.myr --tenants tenants.csv --out e/$name/tenants-$format \
      > said.txt 2> err.txt || echo "$name $format with tenants: $? $(cat err.txt)"
  done
  myriad export sonic-sn5600 $name/design.myr --tenants tenants.csv --vrf --out e/$name/vrf \
    > said.txt 2> err.txt || echo "$name sonic-sn5600 with VRFs: $? $(cat err.txt)"
done
find e -type f | LC_ALL=C sort | xargs cksum
for format in nccl ansible slurm-block partitions containerlab; do
  for file in $(find e -path "*$format*" -type f | LC_ALL=C sort | head -n 1); do
    echo "== $file"; cat $file
  done
done
