# Every published run as the model prices it, and what was assumed where its table is silent.
myriad fit validate data/published-runs.csv -o csv
# What rows leave open or say oddly.
cat > odd.csv <<'R'
software,model,hw,gpus,dp,tp,pp,vp,cp,ep,mbs,gbs,seq,sharding,precision,recompute,iter_s,layers,heads,kv_heads,ffn,vocab,experts,topk
NeMo 25.05,llama3-8b,h100,64,,,,,,,,128,,,bf16,none,2.9,,,,,,,
NeMo 25.05,llama3-8b,h100,64,8,8,1,,,,,128,4096,zero1,fp8,full,2.9,,,,,,,
NeMo 25.05,llama3-8b,h100,64,,2,2,2,2,,1,128,,,,selective,2.9,30,,,,,,
NeMo 25.05,mixtral-8x7b,h100,64,,4,1,,,8,1,128,,,bf16,,4.9,,,,,,,
NeMo 25.05,mixtral-8x7b,h100,64,,4,2,,,,1,128,,zero3,bf16,none,4.9,,,,,,16,2
HAI-LLM,deepseek-v3,h800,512,,1,8,,,64,1,1024,4096,,fp8,,9.9,,,,,,,
Megatron-LM,gpt3-175b,a100-80,384,,8,12,,,,1,1536,,,bf16,recipe,60,,,,,51200,,
Megatron-LM,llama3-8b,h100,48,,3,,,,,1,96,,,bf16,none,3,,,,,,,
NeMo 25.05,llama3-8b,b200,16,,,,,,,2,64,,zero2,mxfp8,20%,2.9,,16,8,14000,,,
NeMo 25.05,mymodel,h100,16,,,,,,,2,64,2048,,bf16,none,2.9,12,16,8,14000,32000,,
R
myriad fit validate odd.csv -o csv; echo $?
