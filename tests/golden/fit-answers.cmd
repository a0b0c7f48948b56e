# Every table of the answers, for people with all columns and for programs.
ask() { echo "== $*"; myriad "$@" -o wide; echo $?; myriad "$@" -o json | sed '/"question"/,/^  },/d'; }
myriad plan examples/h100-64.yaml --out d >/dev/null
ask fit --model mixtral-8x7b --gpus 32 --device h100 --batch 64 --top 3
ask fit --model llama3-70b --gpus 64 --device a100-80 --batch 128 --top 2 --tp 8
ask fit --model llama3-8b --design d/design.myr --device a100-80 --batch 512 --top 1
ask fit curve --model llama3-8b --design d/design.myr --device a100-80 --batch 512
ask fit curve --model llama3-70b --gpus 96 --device h200 --batch 96
ask fit compare --log data/megatron-130b-1024.log --model seed-130b --device h100 --tp 8 --pp 8 --gpus 1024
ask fit calibrate data/own-runs.csv --constants 2
ask fit calibrate --kernels data/h200-kernels.csv
ask fit validate data/own-runs.csv
ask fit --model llama3-8b --batch 96 --pool h100:8 --pool a100-40:16
ask fit devices
ask bench gpu --dry-run --quick --device h100
# One layout that is faster and too large, beside others and alone.
ask fit --model llama3-70b --gpus 16 --device h100 --batch 16 --tp 8 --pp 2 --cp 1 --mbs 1 --zero 1
ask fit --model llama3-70b --gpus 16 --device h100 --batch 16 --tp 8 --pp 2 --vp 1 --cp 1 --mbs 1 --zero 1 --recompute none --schedule 1f1b
