# A network with hosts that are no GPU nodes, of every kind: which file says what of whom.
cat > s.yaml <<'S'
name: io
servers: 2
server: h100-8gpu
networks:
  compute: {switch: mqm9790-ns2f, extra_nodes: 2}
  storage: {switch: mqm9790-ns2f, extra_nodes: 1}
storage: {servers: 2}
S
myriad plan s.yaml --out d > /dev/null 2> err.txt || cat err.txt
for net in compute storage; do
  for format in opensm ibnetdiscover ibsim p2p slurm dot; do
    echo "== $net $format"; myriad export $format d/design.myr --net $net --out e/$net-$format > /dev/null
    if [ -d e/$net-$format ]; then tail -n +1 e/$net-$format/*; else cat e/$net-$format; fi
  done
done
sed -e 's/mqm9790-ns2f/sn5600/' s.yaml > r.yaml
myriad plan r.yaml --out r > /dev/null 2> err.txt || cat err.txt
for net in compute storage; do
  for format in frr sonic-sn5600 containerlab ansible netbox p2p slurm; do
    myriad export $format r/design.myr --net $net --out f/$net-$format > /dev/null 2> err.txt ||
      echo "$net $format: $(cat err.txt)"
  done
done
(cd f; for file in $(find . -type f | LC_ALL=C sort); do
  echo "== $file: $(wc -l < $file) lines, $(cksum < $file)"
  case $file in *leaf*frr* | *ansible* | *p2p* | *storage-slurm*) cat $file;; esac
done)
