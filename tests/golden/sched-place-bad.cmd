myriad plan examples/h100-64.yaml --out d >/dev/null 2>&1
myriad sched place --nodes 4
myriad sched place --design d/design.myr
myriad sched place --design d/design.myr --nodes 65
myriad sched place --design d/design.myr --nodes 4 --gpus-per-node 9
myriad sched place --design d/design.myr --nodes 4 --tp 3
myriad sched place --design d/design.myr --nodes 4 --tp 8 --dp 5
myriad sched place --design d/design.myr --nodes 4 --exclude 3,9-7
myriad sched place --design d/design.myr --nodes 4 --model gpt3-175b
printf 'node,job,gpus\n1,a,5\n1,b,4\n' > s.csv
myriad sched place --design d/design.myr --nodes 4 --state s.csv
myriad sched place --design d/design.myr --nodes 4 --state none.csv
