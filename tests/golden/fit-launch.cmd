# Scripts by what a question says: pools, nodes of a design, hosts, nodes' sizes, every path.
cat > 'tiny "m".json' <<'END'
{"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 8,
 "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 32000,
 "max_position_embeddings": 2048, "rope_theta": 500000.0, "hidden_act": "silu",
 "rms_norm_eps": 1e-5, "tie_word_embeddings": true}
END
launch() { echo "== $*"; myriad fit launch --model 'tiny "m".json' "$@" 2>&1 || echo "exit $?"; }
body() { launch "$@" | sed '/^ *import torch/,/mixed_precision/d;/^# /d'; }
one="--tp 1 --pp 1 --cp 1 --zero 1"
launch --device h100 --gpus 8 --batch 16 $one
body --device h100 --gpus 6 --batch 12 $one --for sbatch --gpus-per-node 3 --name 'a job' --steps 7
body --device h100 --gpus 8 --batch 16 $one --for srun --checkpoint '/ck "p"' --tokenizer '/t k'
body --device h100 --gpus 8 --batch 16 $one --for submit --data '/d\a' --code "/it's"
launch --device h100 --gpus 8 --batch 16 $one --gpus-per-node 3
launch --device gb200 --gpus 8 --batch 16 $one --trainer torchtitan | sed -n 1,30p
# The best of several kinds of GPUs: one alone, or none because they would have to share.
launch --batch 16 --pool h100:8 --pool a100-80:1 $one | sed -n 1,30p
launch --batch 16 --pool h100:8 --pool a100-80:8 --pool h800:8 $one | sed -n 1,30p
launch --batch 16 --pool h100:8
launch --batch 16 --pool h100:8 --pool a100-80:8 --device h100
launch --batch 16 --pool h100:8 --pool a100-80:8 --gpus 8
launch --batch 16 --pool h100:8 --pool nothing:8
# On a design: nodes that are free, under their real names.
printf 'name: d\nservers: 8\nserver: h100-8gpu\n' > d.yaml
myriad plan d.yaml --out d > /dev/null
printf 'node,job,gpus,state\n0,x,8,\n1,x,4,\n3,,,down\n5,x,1,\n' > state
launch --design d/design.myr --gpus 32 --batch 64 $one --state state | sed -n '/^hosts/,/^)/p'
launch --design d/design.myr --gpus 40 --batch 40 $one --state state
for i in 7 6 5 4 3 2 1 0; do echo "host-$i.x_y"; done > hosts
body --design d/design.myr --gpus 16 --batch 32 $one --hosts hosts
body --design d/design.myr --gpus 12 --batch 24 $one --for sbatch
(cat hosts; echo one-more) > many
head -7 hosts > few
sed 's/host-4/host 4/' hosts > odd
sed 's/host-4/host-7/' hosts > twice
printf 'a\r\n\r\nb\r\nc\nd\ne\nf\ng\nh' > ends
for file in many few odd twice ends nothing; do
    launch --design d/design.myr --gpus 64 --batch 64 $one --hosts $file | sed -n '1,3p;/^hosts/,/^)/p'
done
launch --device h100 --gpus 8 --batch 16 --hosts hosts
launch --device h100 --gpus 8 --batch 16 --state hosts
for option in name code data tokenizer checkpoint; do
    launch --device h100 --gpus 8 --batch 16 --for sbatch --$option -x
    launch --device h100 --gpus 8 --batch 16 --for sbatch --$option ''
    launch --device h100 --gpus 8 --batch 16 --for sbatch --$option $'a\tb'
done
