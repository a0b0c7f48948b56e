ask() { echo "$*"; myriad sim "$@" -o json | grep -E '"(flows|sim_time_us|mean|p99|end_us|alone_us|slowdown|events|solved|hash)"' | tr -d ' \n'; echo; }
T="--topology fat-tree:k=4"
for lb in ecmp spray adaptive planned static; do
  ask $T --workload permutation:1MB --lb $lb --fault spine/p0-0:down@10us,reroute=5us
  ask $T --workload permutation:1MB --lb $lb --fault link/20:down@10us --fault link/20:up@90us
  ask $T --workload allreduce:ring,1MB --lb $lb --fault link/18:degrade=0.3@5us
  ask $T --workload permutation:1MB --lb $lb --fault core/g0-0:flap@10us,down=20us,period=60us,count=3,reroute=2us
done
ask $T --workload permutation:1MB --fault link/40:down@1us,reroute=remote
ask $T --workload permutation:1MB --slow node/00003:0.5 --slow node/00007:0.25
ask $T --workload incast:4:1,1MB --pause 1000
ask $T --workload permutation:1MB,seed=9 --pause 500
ask $T --workload permutation:1MB --sharing-loss 300
ask $T --workload permutation:1MB --queue-pairs 4
ask $T --job allreduce:ring,1MB,ranks=8,place=random --job allreduce:ring,1MB,ranks=8,first=8,place=random --lb planned
ask $T --job permutation:1MB --job incast:3:1,1MB --fault link/30:down@1us
myriad sim $T --workload permutation:1MB --fault link/0:down@1us
