# Logs as they are found: cut, without timers, of two runs, with odd lines.
log() { echo "== $*"; myriad fit compare --log run.log --device h100 "$@" -o json 2>&1 | sed '/"question"/,/^  },/d' | tr -d '\n' | tr -s ' '; echo; }
cp data/megatron-130b-1024.log run.log; log --model seed-130b --tp 8 --pp 8 --gpus 1024
cp data/megatron-130b-2048.log run.log; log --model seed-130b --tp 8 --pp 8 --gpus 2048
head -c 3000 data/megatron-130b-1024.log > run.log; log --model seed-130b --tp 8 --pp 8 --gpus 1024
cat > run.log <<'L'
  tensor_model_parallel_size ...................... 2
  pipeline_model_parallel_size .................... 2
  virtual_pipeline_model_parallel_size ............ 2
  context_parallel_size ........................... 1
  micro_batch_size ................................ 2
  seq_length ...................................... 4096
  sequence_parallel ............................... True
  use_distributed_optimizer ....................... True
  recompute_granularity ........................... selective
  world_size ...................................... 16
  bf16 ............................................ True
 iteration        1/       9 | consumed samples: 64 | elapsed time per iteration (ms): 9610.0 | throughput per GPU (TFLOP/s/GPU): 300.1 | global batch size: 64 |
 iteration        2/       9 | consumed samples: 128 | elapsed time per iteration (ms): 3110.5 | throughput per GPU (TFLOP/s/GPU): 410.1 | global batch size: 64 |
    forward-backward ...............................: (2900.0, 2950.0)
    forward-compute ................................: (900.0, 910.0)
    backward-compute ...............................: (1800.0, 1810.0)
    batch-generator ................................: (10.0, 14.0)
    forward-recv ...................................: (60.0, 70.0)
    forward-send ...................................: (20.0, 30.0)
    backward-recv ..................................: (50.0, 55.0)
    all-grads-sync .................................: (60.0, 70.0)
    params-all-gather ..............................: (30.0, 35.0)
    optimizer ......................................: (90.0, 110.0)
 iteration        3/       9 | consumed samples: 192 | elapsed time per iteration (ms): 3090.5 | throughput per GPU (TFLOP/s/GPU): 412.1 | global batch size: 64 |
    forward-backward ...............................: (2800.0, 2850.0)
    optimizer ......................................: (80.0, 100.0)
 iteration        4/       9 | elapsed time per iteration (ms): nonsense | global batch size: 64 |
L
log --model llama3-8b
log --model llama3-8b --tp 4
log --model llama3-8b --gpus 32
log --model llama3-8b --batch 128
log --model llama3-70b
sed -i 's/world_size .*/world_size ............ 17/' run.log; log --model llama3-8b
sed -i 's/16$/x/; s/parallel_size .*/&x/' run.log; log --model llama3-8b
printf ' iteration 1/ 2 | elapsed time per iteration (ms): 0.0 |\n' > run.log; log --model llama3-8b --gpus 8 --batch 8
printf ' iteration 1/ 2 | elapsed time per iteration (ms): -5 |\n' > run.log; log --model llama3-8b --gpus 8 --batch 8
