myriad fit curve --model llama3-8b --gpus 32 --device h100 --batch 64
myriad fit curve --model llama3-8b --gpus 32 --device h100 --batch 64 -o wide | head -12
myriad fit curve --model llama3-8b --gpus 32 --device h100 --batch 64 -o json
