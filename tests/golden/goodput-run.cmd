myriad plan examples/h100-64.yaml --out d >/dev/null 2>&1
myriad goodput --model llama3-8b --gpus 64 --device h100 --batch 128 --tokens 1e11
myriad goodput --model llama3-70b --design d/design.myr --batch 512 --tokens 15e12 --gpu-hour 14 \
    --play 500 --rate llama3
myriad goodput --model llama3-70b --design d/design.myr --batch 512 --tokens 15e12 -o json
myriad goodput --model llama3-8b --gpus 64 --device h100 --batch 128 --tokens 1e12 --rate 1e6
