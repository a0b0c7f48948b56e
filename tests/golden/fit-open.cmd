# Runs that leave open what cannot be left open, and logs of what the search would not try.
cat > runs.csv <<'R'
software,model,hw,gpus,tp,pp,mbs,gbs,precision,recompute,iter_s
NeMo 25.05,llama3-8b,h100,,1,1,1,128,bf16,none,2.9
NeMo 25.05,llama3-8b,h100,64,1,1,1,,bf16,none,2.9
NeMo 25.05,llama3-8b,h100,-,1,1,1,128,bf16,none,2.9
NeMo 25.05,llama3-8b,h100,64,1,1,1,?,bf16,none,2.9
NeMo 25.05,llama3-8b,h100,64,1,1,1,128,bf16,none,2.9
R
myriad fit validate runs.csv
log() {
  echo "== $*"
  printf '  tensor_model_parallel_size ...................... 4\n  pipeline_model_parallel_size .................... 2\n  world_size ...................................... 64\n' > run.log
  for word in "$@"; do echo "  ${word%=*} ...................................... ${word#*=}"; done >> run.log
  echo ' iteration        3/       9 | consumed samples: 384 | elapsed time per iteration (ms): 14610.0 | global batch size: 384 |' >> run.log
  myriad fit compare --log run.log --model llama3-70b --device h100 2>&1 | head -n 12
}
log micro_batch_size=1
log micro_batch_size=3
log micro_batch_size=16 recompute_granularity=full
log micro_batch_size=48 recompute_granularity=full
log micro_batch_size=5
log micro_batch_size=1 virtual_pipeline_model_parallel_size=5
log micro_batch_size=3 virtual_pipeline_model_parallel_size=20
log micro_batch_size=1 virtual_pipeline_model_parallel_size=20
