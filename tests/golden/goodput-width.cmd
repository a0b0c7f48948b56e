# Rates, faults, intervals, storage and prices of many kinds: each figure of the answer.
good() { echo "== $*"; myriad goodput "$@" -o json 2>&1 | sed '/"question"/,/^  },/d'; }
for rate in llama3 rsc-1 rsc-2 classes 2.5; do
  for fault in crash hang node-lost; do
    good --gpus 4096 --rate $rate --fault $fault --target 0.95
  done
done
good --gpus 24576 --gpus-per-node 4 --rate 11 --recovery 900 --stall 40 --play 20000
good --gpus 512 --rate 0.1 --interval 3600 --stall 3
good --model llama3-70b --gpus 2048 --device h200 --batch 1024 --tokens 2e12 --spare-risk 0.01 --pue 1.4 --kwh 0.11 --currency USD --gpu-hour 2.4
good --model deepseek-v3 --gpus 2048 --device h800 --batch 7680 --tokens 14.8e12 --rate rsc-1
good --model gpt3-13b --gpus 64 --device a100-40 --batch 256 --tokens 3e11 --rate 40 --fault hang
myriad plan examples/h100-64.yaml --out e >/dev/null 2>&1
good --design e/design.myr --model llama2-70b --device h100 --batch 512 --tokens 1e12 --years 3
