# Trained designs: what a step, a token and a kilowatt-hour come to, and who does not train.
cat > tiny.json <<'END'
{"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 8,
 "num_attention_heads": 16, "vocab_size": 32000, "max_position_embeddings": 2048,
 "rope_theta": 500000.0, "hidden_act": "silu", "rms_norm_eps": 1e-5}
END
all='{book: cn-2024-05, parts: {sn5600: 320000}}'
spec() { # a name, a switch and how many servers of two kinds
    cat > "$1.yaml" <<END
name: $1
supplied: [servers]
groups: [{name: train, servers: $3, server: h100-8gpu}, {name: other, servers: $4, server: h200-8gpu}]
networks: {compute: {$2}}
prices: $all
END
}
spec a 'fabric: infiniband' 4 2
spec b 'fabric: roce, switch: sn5600' 2 1
printf '%s\n' 'name: c' 'servers: 4' 'server: h100-8gpu' > c.yaml
words="--model tiny.json --batch 64 --tp 1 --pp 1 --cp 1 --workload allreduce:1GB"
export COLUMNS=400
myriad compare a.yaml b.yaml $words -o wide
myriad compare a.yaml b.yaml $words --in-use 0.5 --group other -o csv
myriad compare c.yaml c.yaml --model llama3-405b --batch 64 --workload permutation:1MB -o table \
    --lb spray --lb ecmp --efficiency 900 --report page.html --lang zh
sed -n '/<body>/,$p' page.html | grep -v '^<rect\|^<text\|^<line\|style>'
