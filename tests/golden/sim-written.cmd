# The files of a run from the first to the last byte, runs from those files, and runs compared.
T="--topology fat-tree:k=4,gbps=100,delay=1us"
files() { for f in flows.csv paths.csv series.csv trace.json fct.csv; do echo "-- $f"; cat $f; rm $f; done; }
all="--flows flows.csv --paths paths.csv --series series.csv --series-step 20us --trace trace.json --fct fct.csv"
myriad sim $T --workload allreduce:halving,300KB,ranks=4 --lb spray --message-overhead 2us $all
cp flows.csv again.csv; cp paths.csv routes.csv; files
myriad sim $T --job incast:3:1,200KB --job broadcast:ring,100KB,ranks=5,first=3 --lb ecmp \
    --fault link/45:degrade=0.5@3us --slow node/00004:0.5 $all
files
# What was written is a workload (without software's time), and its paths are routes: the same run.
ask() { echo "$*"; myriad sim $T "$@" -o json | grep -E '"(flows|transfers|sim_time_us|mean|p99|hash)"' | tr -d ' \n'; echo; }
ask --workload allreduce:halving,300KB,ranks=4 --lb spray --message-overhead 2us
ask --workload file:again.csv --lb spray
ask --workload allreduce:halving,300KB,ranks=4 --message-overhead 2us --routes routes.csv
for kind in allreduce:ring allgather:tree reducescatter:ring; do
    for schedule in full collapsed; do ask --workload $kind,1MB,ranks=6,schedule=$schedule 2>&1; done
done
for kind in broadcast:ring broadcast:tree allreduce:tree; do
    for chunks in 1 3; do ask --workload $kind,1MB,ranks=6,chunks=$chunks; done
done
for window in 1 2 15; do ask --workload alltoall:100KB,window=$window; done
for disorder in 0 50 100; do ask --workload alltoall:100KB,ranks=12,place=sorted,disorder=$disorder,seed=2; done
# A run that was kept at a moment goes on as if it had not been.
for at in 0us 7us 60us 1s; do
    myriad sim $T --workload permutation:1MB --fault link/20:down@30us --save state --at $at -o json 2>&1 > /dev/null
    [ -e state ] || { echo none; continue; }
    myriad sim resume state -o json | grep -E '"(sim_time_us|events|hash)"' | tr -d ' \n'; echo " $at"
    rm state
done
myriad sim $T --workload permutation:1MB --fault link/20:down@30us -o json |
    grep -E '"(sim_time_us|events|hash)"' | tr -d ' \n'; echo
# Compared: by job, by flow, within a tolerance and without one.
myriad sim $T --workload permutation:1MB --fct a.csv -o json > a.json
myriad sim $T --workload permutation:1MB --lb spray --fct b.csv -o json > b.json
for words in 'a.csv b.csv' 'a.csv b.csv --tolerance 5% --rows 3' 'a.csv b.csv --all' 'a.json b.json' 'a.csv a.csv'; do
    echo "== $words"; myriad sim compare $words; echo "exit $?"
done
sed '3d' a.csv > short.csv
myriad sim compare a.csv short.csv; echo "exit $?"
