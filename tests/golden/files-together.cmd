# Where one of several files cannot be written none is there, and no folder that was made for them.
mkdir w; ln -s ../examples w/examples; cd w
try() { echo "== $*"; myriad "$@" 2>&1 > /dev/null; echo "exit $?"; ls -A | grep -vx examples; }
fit="fit --model llama3-8b --gpus 64 --device h100 --batch 64"
try $fit --layout-out l.yaml --report /dev/full
try $fit --layout-out l.yaml --report /proc/x.html
try $fit --layout-out l.yaml --report none/r.html
try $fit --layout-out l.yaml --report r.html --plots /proc/plots
try $fit --plots p/q --report /dev/full
try compare examples/h100-64.yaml examples/h100-128.yaml --report c.html --picture none/c.svg
try compare examples/h100-64.yaml examples/h100-128.yaml --report c.html --picture /dev/full
try sched replay examples/day-of-jobs.csv --nodes 64 --plots p --report none/r.html
try sched replay examples/day-of-jobs.csv --nodes 64 --plots p --report /dev/full
try sched replay examples/day-of-jobs.csv --nodes 64 --plots p --schedule /proc/s.csv
try twin run examples/twin/crash-storm.yaml --save s --state t --report /dev/full
printf 'topology: fat-tree:k=4\nworkload: ["permutation:1MB"]\n' > ../sweep.yaml
# No collective is no picture, and then no result either; what is done is kept, to be gone on with.
try sim sweep ../sweep.yaml --out r.csv --plot p.html
try sim sweep ../sweep.yaml --out r.csv --plot none/p.html
try sim sweep ../sweep.yaml --out r.csv
