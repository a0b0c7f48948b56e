# Answers that are seldom given: pools that are better not mixed, one run to calibrate by, a layout
# on a design, options that do not go with pools or with a layout.
verdict() { echo "== $*"; myriad fit --model llama3-8b --batch 64 "$@" 2>&1 | sed -n '/^Sharing/p;/^no layout/p;/^proven/p;/^Verdict/,$p;/^myriad:/,$p'; }
verdict --pool h100:8 --pool a100-80:1
verdict --pool h100:16 --pool a100-40:8 --seq 4096
verdict --pool h100:8 --pool a100-40:3 --tp 8
verdict --pool h100:8
for odd in "--design d.myr" "--device h100" "--gpus 8" "--layout tp=8" "--layout-out l.yaml" "--report r.html" "--plots p" "--exhaustive"; do
  verdict --pool h100:8 --pool a100-80:8 $odd | sed '/^hint/d'
done
head -n 2 data/own-runs.csv > one.csv
myriad fit calibrate one.csv; echo $?
myriad fit calibrate one.csv --out mine.yaml | tail -n 6
myriad fit calibrate one.csv --out none/mine.yaml 2>&1; echo $?
myriad plan examples/h100-64.yaml --out 'a design' > /dev/null
myriad fit --model llama3-8b --design 'a design/design.myr' --gpus 16 --batch 64 --tp 8 --pp 1 --top 1 --layout-out 'a layout.yaml' | tail -n 1
myriad fit --model llama3-8b --device h100 --gpus 16 --layout 'a layout.yaml' | tail -n 1
myriad fit --model llama3-8b --device h100 --gpus 16 --layout 'a layout.yaml' --top 2 2>&1; echo $?
myriad fit --model llama3-8b --device h100 --gpus 16 --layout 'a layout.yaml' --top 5 | tail -n 1
myriad fit --model llama3-8b --device h100 --gpus 16 --batch 16 --layout-out none/l.yaml 2>&1; echo $?
myriad fit --model llama3-8b --device h100 --gpus 16 --batch 16 --report none/r.html 2>&1; echo $?
# Each trainer's lines stand in the report once.
myriad fit --model llama3-8b --device h100 --gpus 8 --batch 16 --tp 8 --report r.html > /dev/null
grep -oE -- '--tensor-model-parallel-size [0-9]+|tensor_parallel_degree[ =]+[0-9]+|tensor_model_parallel_size=[0-9]+' r.html
