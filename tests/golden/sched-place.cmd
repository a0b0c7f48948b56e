myriad plan examples/h100-128.yaml --out d >/dev/null 2>&1
printf 'node,job,gpus,state,penalty\n' > s.csv
for n in $(seq 0 3 127); do printf '%d,a%d,8,,\n' $n $n; done >> s.csv
printf '1,,,down,\n4,,,,0.5\n' >> s.csv
myriad sched place --design d/design.myr --state s.csv --nodes 16 --tp 8 --pp 4
myriad sched place --design d/design.myr --state s.csv --nodes 2 --gpus-per-node 4 -o json
myriad sched place --design d/design.myr --state s.csv --nodes 100 --min-nodes 8 --tp 8 --pp 4 | head -n 3
myriad sched place --design d/design.myr --state s.csv --nodes 16 --tp 8 --pp 4 --plot p.svg | head -n 1
grep -o '<title>[^<]*</title>' p.svg | head -n 9
grep -o 'class="[a-z0-9]*"' p.svg | sort | uniq -c
myriad sched place --design d/design.myr --state s.csv --nodes 120 --plot q.svg | head -n 1
ls q.svg 2>/dev/null || echo 'nothing drawn'
grep -o '<text[^>]*>\(stage [0-9]*\|free\|partly busy\|busy\|down or held\)<' p.svg
