# Why nothing works, and the nearest thing that would: every advice was tried.
fit() { echo "== $*"; myriad fit "$@" -o json 2>&1 | grep -E '^  "(reason|hint)"|^(myriad|hint):|"over_gib"|"largest_term"' | head -n 6; }
for gpus in 7 11 13 17 23 97; do fit --model llama3-8b --gpus $gpus --device h100 --batch 12; done
for batch in 1 3 5 31 33; do fit --model llama3-8b --gpus 64 --device h100 --batch $batch --tp 1 --pp 1 --cp 1; done
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --tp 5
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --pp 33
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --pp 3 --vp 5
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --cp 3
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --dp 3
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --dp 64 --mbs 2
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --tp 16 --pp 8
fit --model mixtral-8x7b --gpus 64 --device h100 --batch 64 --ep 5
fit --model mixtral-8x7b --gpus 64 --device h100 --batch 64 --ep 16
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --pp 5 --schedule dualpipe
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --pp 1 --schedule zero-bubble
fit --model llama3-8b --gpus 64 --device h100 --batch 64 --pp 1 --vp 2
fit --model llama3-8b --gpus 64 --device a100-40 --batch 64 --precision fp8
fit --model llama3-70b --gpus 8 --device h100 --batch 8
fit --model llama3-70b --gpus 16 --device a100-40 --batch 16
fit --model llama3-70b --gpus 16 --device h100 --batch 16 --zero 0
fit --model llama3-70b --gpus 16 --device h100 --batch 16 --recompute none --tp 8
fit --model llama3-8b --gpus 8 --device h100 --batch 8 --seq 262144 --cp 1
fit --model deepseek-v3 --gpus 64 --device h800 --batch 64
fit --model deepseek-v3 --gpus 64 --device h800 --batch 64 --mbs 4
myriad fit --model llama3-405b --batch 64 --pool h100:8 --pool a100-40:8 2>&1
myriad fit --model llama3-8b --batch 7 --pool h100:8 --pool a100-40:8 --dp 2 2>&1
