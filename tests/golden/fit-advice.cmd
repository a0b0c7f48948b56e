# What would work instead: of GPUs, batches, sequences, axes and devices, one by one and all at once.
no() { echo "$ fit $*"; myriad fit "$@" > said.txt 2>&1; code=$?; grep -E "^(myriad|hint)" said.txt || sed 1,5d said.txt | head -n 12; echo "[$code]"; }
for gpus in 9 10 13 14 22 100 1000 1001; do no --model llama3-8b --gpus $gpus --device h100 --batch 96 --tp 4; done
for batch in 1 5 7 11 100 101; do no --model llama3-8b --gpus 48 --device h100 --batch $batch --dp 6; done
no --model llama3-8b --gpus 52 --device h100 --batch 97
no --model llama3-8b --gpus 48 --device h100 --batch 97 --mbs 2
no --model llama3-8b --gpus 12 --device h100 --batch 8 --tp 8 --pp 4 --dp 4
no --model llama3-8b --gpus 100 --device h100 --batch 64 --tp 8 --cp 2 --dp 4
no --model llama3-8b --gpus 8 --device h100 --batch 16 --seq 8191
no --model llama3-8b --gpus 7 --device h100 --batch 5 --seq 5003 --tp 2 --cp 2
no --model llama3-8b --gpus 24 --device h100 --batch 7 --tp 7 --schedule dualpipe
no --model llama3-8b --gpus 16 --device h100 --batch 16 --pp 3 --schedule dualpipe
no --model mixtral-8x7b --gpus 48 --device h100 --batch 64 --ep 5
no --model mixtral-8x7b --gpus 48 --device h100 --batch 64 --ep 8 --tp 3
for gpus in 1 2 4; do no --model llama3-70b --gpus $gpus --device h100 --batch 64; done
for seq in 65536 262144 1048576; do no --model llama3-8b --gpus 8 --device a100-40 --batch 8 --seq $seq; done
no --model llama3-8b --gpus 8 --device a100-40 --batch 8 --seq 300000 --cp 1 --tp 1
no --model llama3-405b --gpus 128 --device a100-80 --batch 128 --zero 1 --tp 8 --pp 2
no --model deepseek-v3 --gpus 64 --device h100 --batch 64
no --model gpt3-175b --gpus 16 --device a100-40 --batch 16
myriad plan examples/h100-64.yaml --out d > /dev/null
no --model llama3-405b --design d/design.myr --batch 512 --zero 0
no --model llama3-8b --design d/design.myr --batch 513 --tp 7
# Pools: what each alone could do, and why not together.
pools() { echo "$ fit $*"; myriad fit "$@" -o wide 2>&1; echo "[$?]"; }
pools --model llama3-70b --batch 64 --pool h100:16 --pool a100-80:16 --recompute selective
pools --model mixtral-8x7b --batch 64 --pool h100:8 --pool a100-80:16 --recompute selective --cp 1
pools --model llama3-8b --batch 48 --pool a100-40:4 --pool h100:4 --pool a100-80:4 --tp 4 --pp 1
pools --model gpt3-1.3b --batch 16 --pool h100:1 --pool a100-40:2 --zero 0
pools --model llama3-405b --batch 16 --pool h100:16 --pool a100-40:24
