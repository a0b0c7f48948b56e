# The same trace under several policies; words that no comparison follows from.
no() { echo "$ myriad $*"; myriad "$@" > out.txt 2>&1 < /dev/null; code=$?; head -n 3 out.txt; echo "[$code]"; }
printf 'submit_s,duration_s,num_gpus,vc\n0,36000,8,b\n60,600,16,a\n120,600,4,c\n180,60,64,c\n' > jobs.csv
myriad sched rehearse jobs.csv --nodes 2 --leaf-nodes 2 --policy preempt --policy fifo
myriad sched rehearse jobs.csv --nodes 2 --leaf-nodes 2 --own b=1n -o csv
myriad sched rehearse - --nodes 2 --leaf-nodes 2 --policy fair --policy first-fit -o csv < jobs.csv
no sched rehearse jobs.csv --nodes 2 --policy fair
no sched rehearse jobs.csv --nodes 2 --policy fair --policy fare
no sched rehearse jobs.csv --nodes 2 --policy fair --policy fair
no sched rehearse jobs.csv --nodes 2 --seed 3
no sched rehearse none.csv --nodes 2
no sched rehearse jobs.csv
