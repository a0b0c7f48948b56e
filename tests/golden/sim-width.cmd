# Every load balancer, collective and fault kind on a few fabrics: each figure of the answer.
sim() { echo "== $*"; myriad sim "$@" -o json | sed '/"question"/,/^  },/d'; }
printf 'name: rails\nservers: 24\nserver: h100-8gpu\nnetworks:\n  compute: {topology: rail}\n  storage: {}\n' > s.yaml
myriad plan s.yaml --out d >/dev/null 2>&1
for lb in ecmp ecmp-xor port static flowlet spray adaptive planned; do
  sim --topology fat-tree:k=6,gbps=200,delay=700ns --workload permutation:3MB --lb $lb --seed 5
  sim --design d/design.myr --workload alltoall:2MB,ranks=64,place=random,seed=4 --lb $lb
done
for algorithm in ring tree halving hier in-network auto; do
  for kind in allreduce reducescatter allgather broadcast; do
    sim --design d/design.myr --workload $kind:$algorithm,5MB,ranks=64 2>&1
  done
done
for fault in link/30:down@10us link/30:degrade=0.25@5us link/30:flap@5us,down=20us,period=90us,count=3 \
  leaf/p0-g0-r1:down@8us,reroute=remote spine/p0-1:down@3us,reroute=convergence spine/p0-1:down@3us,reroute=40us; do
  sim --topology fat-tree:k=4,gbps=100,delay=1us --workload alltoall:1MB --fault $fault --lb adaptive 2>&1
  sim --design d/design.myr --workload allreduce:ring,20MB --fault $fault 2>&1
done
myriad plan examples/h100-64.yaml --out e >/dev/null 2>&1
sim --design e/design.myr --workload checkpoint:1GB --net storage 2>&1
sim --design e/design.myr --workload read:500MB,stripes=4 --net storage 2>&1
sim --design d/design.myr --workload step:llama3-8b,tflops=400,tp=4,pp=2,global_batch=48 2>&1
sim --design d/design.myr --workload step:mixtral-8x7b,tflops=300,tp=2,pp=4,ep=8,global_batch=96 --lb planned 2>&1
sim --topology fat-tree:k=8 --workload incast:7:1,2MB --pause 300 --sharing-loss 50 --efficiency 930 --queue-pairs 4
sim --topology fat-tree:k=4 --job alltoall:1MB,ranks=8,first=0 --job permutation:4MB,ranks=8,first=8,place=sorted,disorder=20 --polarised
