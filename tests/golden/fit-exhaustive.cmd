# Every layout one by one and the search: how many there are, and the same best ones.
both() {
  echo "== $*"
  myriad fit "$@" --top 5 --exhaustive -o json | grep -E '^  "(evaluated|costed)"'
  myriad fit "$@" --top 5 -o json | grep -E '^  "(evaluated|costed)"'
  myriad fit "$@" --top 5 --exhaustive -o csv > slow.csv; myriad fit "$@" --top 5 -o csv | cmp - slow.csv && cut -d, -f1-16 slow.csv | tail -n +2
}
both --model llama3-8b --gpus 8 --device h100 --batch 8 --tp 4 --vp 1
both --model llama3-8b --gpus 12 --device h100 --batch 12 --tp 2
both --model gpt3-125m --gpus 8 --device a100-40 --batch 16 --zero 1
both --model gpt3-125m --gpus 6 --device a100-40 --batch 18
both --model mixtral-8x7b --gpus 16 --device h100 --batch 16 --tp 4 --pp 2 --zero 1
both --model mixtral-8x7b --gpus 16 --device h200 --batch 16 --tp 1 --cp 1 --ep 8 --schedule any
both --model gpt-oss-20b --gpus 8 --device h100 --batch 16 --tp 2 --precision any
both --model llama3-8b --gpus 16 --device b200 --batch 32 --tp 2 --pp 4 --dp 2
both --model llama3-8b --gpus 8 --device h100 --batch 6 --mbs 3 --recompute full
