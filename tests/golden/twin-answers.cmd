# Runs with all that happens and with nothing, a saved case, seeds: every figure of the answers.
twin() { echo "== $*"; myriad twin "$@" -o wide; myriad twin "$@" -o json; myriad twin "$@" -o csv; }
twin run examples/twin/crash-storm.yaml --save case.yaml
twin replay case.yaml
printf 'cluster: {nodes: 4}\ndays: 1.25\njobs:\n  - {gpus: 16, hours: 26}\n  - {gpus: 8, hours: 27}\n  - {gpus: 1, hours: 9}\n' > quiet.yaml
twin run quiet.yaml
twin search examples/twin/crash-storm.yaml --seeds 2
# Long jobs and faults; faults that hit no job.
printf 'cluster: {nodes: 16}\ndays: 2.3\nfaults: {rate: 60}\njobs:\n  - {count: 5, gpus: 16, hours: 40}\n' > long.yaml
twin run long.yaml --seed 3
printf 'cluster: {nodes: 16}\ndays: 2\nfaults: {rate: 60}\njobs:\n  - {gpus: 1, hours: 0.1}\n' > idle.yaml
myriad twin run idle.yaml
# A fault planted in the controller: what breaks is found, made small, said again by the saved case.
export MYRIAD_TEST_PLANTED=1
myriad twin search examples/twin/crash-storm.yaml --seeds 3 --save small.yaml; echo $?
myriad twin search examples/twin/crash-storm.yaml --seeds 3 -o json
MYRIAD_TEST_PLANTED=7 myriad twin search examples/twin/crash-storm.yaml; echo $?
unset MYRIAD_TEST_PLANTED
cat small.yaml
twin replay small.yaml
