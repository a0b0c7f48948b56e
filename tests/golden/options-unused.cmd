# An option that would do nothing beside the others is refused.
myriad plan examples/h100-64.yaml --out d > /dev/null
no() { echo "== $*"; myriad "$@" 2>&1 > /dev/null | head -n 1; echo "exit ${PIPESTATUS[0]}"; }
for format in p2p netbox dot nccl containerlab; do no export $format d/design.myr --tenants none --out x; done
no export netbox d/design.myr --binding none --out x
no export frr d/design.myr --tenants none --vrf --out x
no export --list --net all
no design d/design.myr --catalog none
no goodput --gpus 1024 --recipe bogus=1
no goodput --model llama3-8b --gpus 64 --device h100 --batch 64 --years 9
for sub in failover "blast --of leaf/p0-g0-r0"; do
  for odd in "--axis bogus" "--policy ecmp" "--pattern all-to-all" "--seed 4" --polarised "--nodes 0-3 --axis bogus"; do
    no route $sub d/design.myr $odd
  done
done
no route failover d/design.myr --link link/00000001 --all
no route failover d/design.myr --device spine/p0-0 --all
no whatif state --priority 5
for odd in "--dir x" "--server x" "--ca x" "--token-file x"; do no whatif state $odd; done
no compare examples/h100-64.yaml examples/h100-128.yaml --in-use 0.5
no fit --model llama3-8b --batch 64 --pool h100:8 --pool a100-80:8 --top 2
no fit --model llama3-8b --gpus 8 --device h100 --batch 64 --recipe cuda_graphs=full,CUDA_GRAPHS=none
no goodput --model llama3-8b --gpus 8 --device h100 --batch 64 --recipe compile=1,compile=1
for how in torchrun srun; do no fit launch --model llama3-8b --gpus 8 --device h100 --batch 64 --name z --for $how; done
no fit launch --model llama3-8b --design d/design.myr --batch 64 --gpus-per-node 4
for odd in "--context x" "--namespace x" "--image x" "--gpus-per-node 4"; do no submit examples/jobs/hello.yaml $odd; done
no submit examples/jobs/hello.yaml --kubeconfig none --server x
# A variable may stand for all calls.
MYRIAD_EXPORT_TENANTS=none myriad export p2p d/design.myr --out x.csv > /dev/null 2>&1; echo $?
MYRIAD_GOODPUT_RECIPE=bogus=1 myriad goodput --gpus 1024 > /dev/null; echo $?
