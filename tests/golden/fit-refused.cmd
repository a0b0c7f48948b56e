# No layout at all, or none that fits: which rule says so, and what would work instead.
no() { echo "$ myriad fit $*"; myriad fit "$@" 2>&1 | head -n 12; echo "[${PIPESTATUS[0]}]"; }
no --model llama3-8b --gpus 7 --device h100 --batch 8
no --model llama3-8b --gpus 8 --device h100 --batch 7 --dp 8
no --model llama3-8b --gpus 6 --device h100 --batch 5
no --model llama3-8b --gpus 11 --device h100 --batch 13 --tp 8
no --model llama3-8b --gpus 24 --device h100 --batch 10 --dp 3
no --model llama3-8b --gpus 16 --device h100 --batch 32 --pp 5
no --model llama3-8b --gpus 16 --device h100 --batch 32 --tp 3
no --model llama3-8b --gpus 16 --device h100 --batch 32 --ep 2
no --model qwen3-30b-a3b --gpus 16 --device h100 --batch 32 --ep 3
no --model llama3-8b --gpus 16 --device h100 --batch 32 --pp 2 --vp 5
no --model llama3-8b --gpus 16 --device h100 --batch 32 --micro-batch 5
no --model llama3-8b --gpus 16 --device h100 --batch 32 --zero 3 --pp 2
no --model llama3-70b --gpus 4 --device a100-40 --batch 8
no --model llama3-405b --gpus 64 --device h100 --batch 64 --zero 0 --tp 8
no --model llama3-8b --gpus 1 --device a100-40 --batch 8
