myriad fit curve --model llama3-8b --device h100 --gpus 100 --batch 128
myriad fit curve --model llama3-405b --device h100 --gpus 8 --batch 8
myriad goodput --model llama3-405b --device h100 --gpus 8 --batch 8
