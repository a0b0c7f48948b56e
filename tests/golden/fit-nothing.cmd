myriad fit --model llama3-405b --gpus 8 --device h100 --batch 8
myriad fit --model llama3-405b --gpus 8 --device h100 --batch 8 -o json
