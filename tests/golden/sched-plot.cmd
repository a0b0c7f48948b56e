# Gangs as they are drawn: on leaves of other sizes, with layouts and without; by checksum, one whole.
spec() { printf 'name: p\nservers: %s\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: %s, leaf_up: %s}\n' "$1" "$2" "$2" > p.yaml; }
printf 'node,job,gpus,state,penalty\n0,a,8,,\n1,b,3,,\n2,,,down,\n' > s.csv
for size in '4 16' '24 8' '40 32'; do
  spec $size
  myriad plan p.yaml --out d >/dev/null 2>&1 || { echo "$size: not planned"; continue; }
  for words in '--nodes 1' '--nodes 2 --gpus-per-node 4' '--nodes 4 --tp 8 --pp 2' '--nodes 16 --tp 8 --pp 4'; do
    rm -f g.svg
    myriad sched place --design d/design.myr --state s.csv $words --plot g.svg > said.txt 2>&1
    echo "$size $words: $? $(cksum < g.svg 2>/dev/null || echo nothing drawn)"
  done
  [ "$size" != '4 16' ] || { myriad sched place --design d/design.myr --nodes 2 --tp 8 --pp 2 --plot w.svg >/dev/null; cat w.svg; }
done
