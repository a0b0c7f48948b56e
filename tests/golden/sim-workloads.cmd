ask() { myriad sim "$@" -o json | grep -E '"(flows|transfers|sim_time_us|mean|p50|p99|max|p1|min|full_share|mean_slowdown|algbw_gbytes_per_s|busbw_gbytes_per_s|end_us|alone_us|slowdown|events|solved|hash)"' | tr -d ' \n'; echo; }
for w in permutation:1MB incast:5:1,1MB alltoall:1MB allreduce:ring,1MB allreduce:tree,1MB allreduce:halving,1MB allreduce:in-network,1MB allreduce:auto,1KB reducescatter:ring,1MB reducescatter:halving,1MB allgather:ring,1MB allgather:halving,1MB broadcast:tree,1MB broadcast:ring,1MB; do
  for lb in ecmp ecmp-xor port static flowlet spray adaptive planned; do echo "$w $lb"; ask --topology fat-tree:k=4 --workload $w --lb $lb --seed 2; done
done
printf 'name: eight\nservers: 8\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790, leaf_down: 4, leaf_up: 2, tiers: 2}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
for w in allreduce:hier,16MB allreduce:ring,16MB allreduce:ring,16MB,ranks=24,first=8 allreduce:ring,16MB,ranks=12,first=4 allreduce:hier,16MB,place=random,ranks=32 alltoall:1MB,ranks=16,place=sorted,disorder=50 reducescatter:hier,16MB allgather:hier,16MB step:llama3-8b,tp=8,pp=4,micro_batch=1,global_batch=8 step:llama3-8b,tp=4,pp=2,cp=2,micro_batch=1,global_batch=8,tflops=300 step:mixtral-8x7b,tp=2,pp=4,ep=4,micro_batch=1,global_batch=16; do
  for lb in ecmp spray planned; do echo "$w $lb"; ask --design e/design.myr --workload $w --lb $lb; done
done
# What is made again takes time, and what is not played is refused.
w=step:gpt3-125m,pp=4,global_batch=32,tflops=1
for more in '' ,recompute=selective ,recompute=full ,recompute=full,recompute_layers=1 ,schedule=1f1b; do echo "$more"; ask --topology fat-tree:k=4 --workload $w$more; done
for more in ,vp=2 ,schedule=zero-bubble ,schedule=dualpipe; do myriad sim --topology fat-tree:k=4 --workload $w$more 2>&1; echo $?; done
for w in step:gpt3-125m step:gpt3-125m,pp=1; do ask --topology fat-tree:k=4 --workload $w; done
