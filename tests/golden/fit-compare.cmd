cat > run.log <<'L'
  tensor_model_parallel_size ...................... 4
  pipeline_model_parallel_size .................... 2
  world_size ...................................... 64
 iteration        3/       9 | consumed samples: 384 | elapsed time per iteration (ms): 14610.0 | throughput per GPU (TFLOP/s/GPU): 500.1 | global batch size: 128 |
    forward-backward ...............................: (12000.0, 12800.0)
    forward-compute ................................: (3900.0, 4100.0)
    backward-compute ...............................: (7700.0, 8000.0)
    all-grads-sync .................................: (600.0, 700.0)
    optimizer ......................................: (90.0, 110.0)
L
myriad fit compare --log run.log --model llama3-70b --device h100
myriad fit compare --log run.log --model llama3-70b --device h100 -o json
myriad fit compare --log run.log --model llama3-70b --device h100 -o csv
grep iteration run.log | myriad fit compare --log - --model llama3-8b --device h100 --gpus 8 --tp 8
