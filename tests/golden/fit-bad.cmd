# Questions that contradict themselves or name what is not there: one line each, and nothing written.
bad() { myriad fit "$@" 2>&1; echo "$? $(ls | tr '\n' ' ')"; }
echo 'layout: {tp: 8, dp: 2}' > l.yaml; : > empty.log; echo 'a,b' > odd.csv
bad
bad --model llama3-8b
bad --model llama3-8b --gpus 8
bad --model llama3-8b --gpus 8 --device h100
bad --model llama9 --gpus 8 --device h100 --batch 8
bad --model llama3-8b --gpus 8 --device h101 --batch 8
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --software Excel
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --tp 3
bad --model llama3-8b --gpus 8 --device h100 --batch 7 --dp 2
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --ep 2
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --pp 8 --tp 2
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --zero 4
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --schedule dualpipe
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --seq 1000000
bad --model llama3-8b --device h100 --layout l.yaml --top 2
bad --model llama3-8b --device h100 --layout none.yaml
bad --model llama3-8b --device h100 --layout odd.csv
bad --model llama3-8b --gpus 16 --device h100 --layout l.yaml --tp 4
bad --model llama3-8b --gpus 8 --device h100 --batch 8 --layout-out none/l.yaml
bad --model llama3-8b --design none.myr --batch 8
for odd in '--design d.myr' '--device h100' '--gpus 8' '--layout l.yaml' '--layout-out o.yaml' '--report r.html' '--plots p' --exhaustive; do
  bad --model llama3-8b --batch 64 --pool h100:8 --pool a100-80:8 $odd
done
bad --model llama3-8b --batch 64 --pool h100:8
bad --model llama3-8b --batch 64 --pool h100:8 --pool h100:8
bad --model llama3-8b --batch 64 --pool h100 --pool a100-80:8
bad --model llama3-8b --batch 64 --pool h100:x --pool a100-80:8
bad compare
bad compare --log none.log --model llama3-8b --device h100
bad compare --log empty.log --model llama3-8b --device h100
bad compare --log data/megatron-130b-1024.log --model seed-130b --device h100 --tp 3 --gpus 1024
bad validate
bad validate odd.csv
bad validate none.csv
bad calibrate
bad calibrate odd.csv
bad calibrate --kernels odd.csv
bad calibrate data/own-runs.csv --constants 0
bad calibrate data/own-runs.csv --constants 99
bad calibrate data/own-runs.csv --out none/mine.yaml
bad curve --model llama3-8b --device h100 --batch 8
bad models llama
