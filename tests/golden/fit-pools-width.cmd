# Pools of unlike sizes, batches that no pool divides, experts, three and four pools: each figure.
pools() { echo "== $*"; myriad fit "$@" -o json 2>&1 | sed '/"question"/,/^  },/d' | grep -vE ': null,?$' | tr -d ' \n'; echo; }
pools --model llama3-8b --batch 50 --pool h100:8 --pool a100-80:24
pools --model llama3-8b --batch 37 --pool h100:8 --pool a100-80:8 --tp 2
pools --model llama3-8b --batch 60 --pool h100:16 --pool a100-40:8 --pool h800:8 --cp 1 --mbs 1
pools --model gpt-oss-20b --batch 50 --pool h100:8 --pool h200:24 --cp 1 --tp 1
pools --model mixtral-8x7b --batch 96 --pool h100:16 --pool h800:32 --cp 1 --zero 1 --mbs 1
pools --model gpt3-1.3b --batch 33 --pool h100:3 --pool a100-80:5 --pool h800:2 --pool a100-40:1 --tp 1 --cp 1
pools --model llama3-8b --batch 64 --pool h100:8 --pool ascend-910b:16 --pp 4 --recompute full
pools --model llama3-70b --batch 32 --pool h100:8 --pool a100-80:16 --tp 8 --mbs 1
pools --model llama3-8b --batch 40 --pool h100:8 --pool b200:8 --precision fp8 --cp 1
pools --model deepseek-v3 --batch 256 --pool h200:128 --pool h800:256 --tp 1 --cp 1 --mbs 1 --ep 8 --zero 1
pools --model deepseek-v3 --batch 256 --pool h200:128 --pool h800:256 --tp 1 --pp 16 --cp 1 --mbs 1 --ep 8 --zero 1 --recompute full
