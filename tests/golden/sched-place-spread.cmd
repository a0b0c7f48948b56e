myriad plan examples/h100-128.yaml --out d >/dev/null 2>&1
printf 'node,job,kind,rack,row\n' > s.csv
for n in $(seq 0 127); do printf '%d,,%s,r%d,row%d\n' $n $([ $n -lt 64 ] && echo h200 || echo h100) $((n / 4)) $((n / 32)); done >> s.csv
myriad sched place --design d/design.myr --state s.csv --nodes 6 --rack-max 1 --row-max 2 --gpu-kind h100
myriad sched place --design d/design.myr --state s.csv --nodes 4 --rack-max 1 --row-max 2 --gpu-kind h100
myriad sched place --design d/design.myr --state s.csv --nodes 8 --tp 8 --pp 4 --row-max 4 --gpu-kind h200
myriad sched place --design d/design.myr --state s.csv --nodes 8 --gpu-kind a100
myriad sched place --design d/design.myr --nodes 8 --gpu-kind h100
myriad sched place --design d/design.myr --nodes 8 --rack-max 2
printf 'node,rack\n3,a\n3,b\n' > bad.csv
myriad sched place --design d/design.myr --nodes 8 --state bad.csv
