myriad plan examples/h100-128.yaml --out d >/dev/null 2>&1
printf 'node,job,gpus\n' > s.csv
for n in $(seq 0 2 127); do printf '%d,a%d,2\n' $n $n; done >> s.csv
myriad sched place --design d/design.myr --state s.csv --nodes 80
myriad sched place --design d/design.myr --state s.csv --nodes 24 --within leaf -o json
myriad sched place --design d/design.myr --state s.csv --nodes 80 >/dev/null
