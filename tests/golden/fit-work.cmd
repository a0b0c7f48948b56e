# How much the search looks at: a bound that got weaker costs time, and changes no answer.
fit() { echo "$*: $(myriad fit "$@" --top 1 -o json | grep -E '^  "(evaluated|costed)"|^    "step_s":' | tr -d ' \n')"; }
for model in llama3-8b qwen3-30b-a3b; do
  for gpus in 24; do
    for more in "" "--schedule 1f1b" "--schedule zero-bubble" "--schedule dualpipe" "--precision any" "--recompute full" "--zero 3" "--tp 2 --pp 4" "--cp 2" "--mbs 2"; do
      fit --model $model --gpus $gpus --device h100 --batch 96 $more
    done
  done
done
for device in a100-40 gb200; do
  fit --model llama3-70b --gpus 128 --device $device --batch 256
  fit --model mixtral-8x22b --gpus 128 --device $device --batch 256
done
fit --model gpt3-175b --gpus 384 --device h800 --batch 768 --software "NeMo 24.09"
fit --model deepseek-v3 --gpus 512 --device h800 --batch 1024 --seq 4096
