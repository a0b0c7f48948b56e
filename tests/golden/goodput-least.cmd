# The least of each number: one failure played, one GPU, hours in place of days; and no layout.
myriad goodput --gpus 1 --gpus-per-node 1 --rate 1 --play 1
myriad goodput --gpus 4096 --rate 7 --target 0.000001 --recovery 0 --stall 0 --interval 0.001
run() { echo "== $*"; myriad goodput --model llama3-8b --device h100 --gpus 64 --batch 128 --rate 7 "$@" 2>&1 | sed -n '/^memory/p;/^storage/p;/^time/,/^[^ te]/p;/^played/p;/^myriad/p'; }
run --tokens 1e8 --play 1
run --tokens 2e9
run --tokens 3e12 --pue 1 --kwh 0 --spare-risk 0.5
run --tokens 1e11 --gpu-hour 0
run --interval 1.7 --tokens 5.6e10
myriad goodput --model llama3-405b --gpus 8 --device h100 --batch 8 -o csv; echo $?
for odd in "--device h100" "--profile p" "--software x" "--batch 1" "--seq 1" "--layout tp=8" "--currency X" "--design d" "--spare-risk 0.1" "--pue 2" "--kwh 1" "--years 1" "--recipe bogus=1"; do
  myriad goodput --gpus 8 $odd 2>&1 | head -n 1
done
# A price is spread over the design's years, or over those that are given.
myriad plan examples/h100-64.yaml --out d > /dev/null
run --tokens 3e12 --design d/design.myr --years 0.01
