# Each option has its effect.
myriad fit --model llama3-8b --gpus 64 --device h100 --batch 128 --layout-out l.yaml >/dev/null
good() { echo "== $*"; myriad goodput --tokens 3e12 --rate 7 "$@"; }
good --model llama3-8b --device h100 --layout l.yaml
good --model llama3-8b --device h100 --layout l.yaml --gpus-per-node 4 --pue 1.1 --kwh 0.2 --currency EUR --gpu-hour 3.21
good --model llama3-8b --gpus 64 --device h100 --batch 128 --seq 4096 --software "NeMo 24.09" --spare-risk 0.2
good --model llama3-8b --gpus 64 --device h100 --batch 128 --interval 333 --recovery 77 --stall 1.25
good --model llama3-8b --gpus 64 --device h100 --batch 128 --rate 90000
printf 'recovery:\n  a.detect.crash: {unit: s, low: 1, typical: 2, high: 3, scales: const, confidence: high, when: now, source: own}\n' > own.yaml
myriad goodput --gpus 512 --data own.yaml; echo $?
myriad goodput classes --gpus 512 --gpus-per-node 4
myriad goodput parts --fault hang -o wide
# Failures faster than recoveries: nothing is kept, and the interval is still a number.
for more in "--rate 1e6 --recovery 1e7" "--rate 1e5 --recovery 1e6 --stall 1e5" "--rate 3e5 --recovery 40000"; do
  myriad goodput --gpus 4096 $more -o csv | cut -d, -f1-14
  myriad goodput --model llama3-8b --gpus 64 --device h100 --batch 128 $more -o csv | cut -d, -f1-14
done
# Rows of one's own with more digits than others have: each column shows as many as it can.
printf 'recovery:\n  rate.hbm: {unit: per_1e6_gpu_h, low: 1.23456, typical: 2.34567, high: 3.45678, scales: poisson, confidence: high, when: now, source: own}\n  a.diagnose: {unit: s, low: 1.23456, typical: 2.34567, high: 3.45678, scales: const, confidence: high, when: now, source: own}\n' > digits.yaml
COLUMNS=400 myriad goodput classes --data digits.yaml -o wide | grep -E "CLASS|hbm"
COLUMNS=400 myriad goodput parts --data digits.yaml -o wide | grep -E "PART|diagnose"
COLUMNS=400 myriad goodput data --data digits.yaml -o wide | grep -E "KEY|hbm|a.diagnose"
