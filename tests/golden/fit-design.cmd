myriad plan examples/h100-64.yaml --out d >/dev/null 2>&1
myriad fit --model qwen3-30b --design d/design.myr --batch 512 --top 2 --precision any -o json
myriad sim contention --design d/design.myr --lb ecmp >/dev/null 2>&1
myriad fit --model llama3-70b --design d/design.myr --batch 512 --top 1 -o json |
    sed -n '/"topology"/,/"nearest"/p'
myriad fit --model llama3-70b --design d/design.myr --batch 512 --gpus 1024
