# Layouts of many kinds, all their figures: a change anywhere in the cost of a step shows.
fit() { echo "== $*"; myriad fit "$@" -o csv | sed 1d; }
for device in a100-40 a100-80 h100 h800 h200 b200 gb200 b300 gb300 ascend-910b mi300x; do
  fit --model llama2-13b --gpus 72 --device $device --batch 144 --top 2
  fit --model qwen3-30b-a3b --gpus 64 --device $device --batch 256 --top 2 --precision any
done
for software in "NeMo 24.09" "NeMo 25.02" "NeMo 25.05"; do
  fit --model gpt3-175b --gpus 512 --device h100 --batch 512 --software "$software" --top 2
done
for more in "--tp 8 --pp 16 --vp 8 --cp 2 --mbs 1" "--tp 4 --pp 8 --zero 1" "--tp 8 --pp 9 --vp 1" \
  "--pp 1 --zero 3 --recompute full" "--cp 8 --seq 131072" "--recompute selective --mbs 2" "--tp 16 --pp 4"; do
  fit --model llama3-405b --gpus 1152 --device h200 --batch 288 --top 3 $more
  fit --model mcore-462b --gpus 1152 --device gb200 --batch 576 --top 3 $more
done
for model in deepseek-v3 deepseek-v2 kimi-k2 gpt-oss-120b grok-1 mixtral-8x22b llama4-maverick qwen3-235b-a22b; do
  for more in "--schedule 1f1b" "--schedule zero-bubble" "--schedule dualpipe --pp 8" "--schedule any --precision fp8" "--ep 8 --pp 4" "--ep 32 --tp 2"; do
    fit --model $model --gpus 256 --device h800 --batch 512 --top 2 $more
  done
done
