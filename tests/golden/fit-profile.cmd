# A profile of one's own moves what is asked with it, and nothing else; the slow search agrees.
myriad fit calibrate data/own-runs.csv --constants 2 --out mine.yaml | tail -n 5
myriad fit calibrate data/own-runs.csv --constants 1 --profile mine.yaml
myriad fit constants --profile mine.yaml -o csv | head -n 30
step() { myriad fit "$@" -o json | sed '/"question"/,/^  },/d' | grep -E '"(step_s|mfu|evaluated|costed)"|interval' | head -n 5; }
for more in "" "--profile mine.yaml"; do
  step --model llama3-8b --gpus 8 --device h100 --batch 16 --tp 2 $more
  step curve --model llama3-8b --gpus 16 --device h100 --batch 16 $more
  myriad fit validate data/own-runs.csv $more
  myriad fit compare --log data/megatron-130b-1024.log --model seed-130b --device h100 --tp 8 --pp 8 --gpus 1024 $more | head -n 4
  myriad goodput --model llama3-8b --gpus 64 --device h100 --batch 128 --tokens 1e12 $more | head -n 14
done
step --model llama3-8b --gpus 8 --device h100 --batch 8 --mbs 1 --vp 1 --exhaustive
step --model llama3-8b --gpus 8 --device h100 --batch 8 --mbs 1 --vp 1
echo 'constants: {no.such: 3}' > bad.yaml; myriad fit constants --profile bad.yaml; echo $?
myriad fit constants --profile none.yaml; echo $?
