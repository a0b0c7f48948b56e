# A log's arguments word by word, with a model that is known and with the one that they describe.
head='  world_size ...................................... 64
  tensor_model_parallel_size ...................... 2
  pipeline_model_parallel_size .................... 2
  micro_batch_size ................................ 1
  seq_length ...................................... 4096
  num_layers ...................................... 16
  hidden_size ..................................... 2048
  num_attention_heads ............................. 16'
tail=' iteration 5/ 9 | consumed samples: 640 | elapsed time per iteration (ms): 3110.5 | throughput per GPU (TFLOP/s/GPU): 410.1 | global batch size: 128 |'
ask() { myriad fit compare --log run.log --device h100 "$@" -o json 2>&1 | sed '/"question"/,/^  },/d' | grep -vE ': null,?$|"(message|why)"' | tr -d ' \n' | sed 's/"schema.*"iterations"/"iterations"/; s/"predicted_s_interval.*"log_tflops"/"log_tflops"/'; echo; }
with() {
  echo "== $*"
  { echo "$head"; for row in "$@"; do echo "  ${row% *} ................ ${row##* }"; done; echo "$tail"; } > run.log
  ask --model llama3-8b | sed 's/"runs".*//'; ask
}
with
for flag in sequence_parallel use_distributed_optimizer swiglu untie_embeddings_and_output_weights \
    group_query_attention bf16 fp16 overlap_grad_reduce multi_latent_attention; do
  for word in True False None; do with "$flag $word"; done
done
for row in 'recompute_granularity selective' 'recompute_granularity full' 'recompute_granularity None' 'fp8 hybrid' \
    'fp8 e4m3' 'fp8 None' 'fp8 odd' 'fp4 e2m1' 'data_parallel_sharding_strategy no_shard' \
    'data_parallel_sharding_strategy optim' 'data_parallel_sharding_strategy optim_grads' \
    'data_parallel_sharding_strategy optim_grads_params' 'virtual_pipeline_model_parallel_size 2' \
    'context_parallel_size 2' 'expert_model_parallel_size 2' 'num_query_groups 4' 'ffn_hidden_size 8192' \
    'padded_vocab_size 32000' 'kv_channels 64' 'micro_batch_size 4' 'seq_length 8192' 'mtp_num_layers 1' \
    'seq_length x' 'world_size 63' 'hidden_size 0'; do
  with "$row"
done
with 'fp8 hybrid' 'fp8_recipe mxfp8'
with 'group_query_attention True' 'num_query_groups 4'
with 'num_experts 8' 'moe_router_topk 2' 'moe_ffn_hidden_size 1024' 'expert_model_parallel_size 4'
with 'num_experts 8' 'moe_router_topk 2' 'moe_layer_freq 2' 'moe_shared_expert_intermediate_size 512'
with 'multi_latent_attention True' 'q_lora_rank 512' 'kv_lora_rank 256' 'qk_head_dim 96' 'qk_pos_emb_head_dim 32' 'v_head_dim 96'
with 'recompute_granularity full' 'recompute_method block' 'recompute_num_layers 4'
