myriad fit --model llama3-8b --batch 64 --pool h100:8 --pool a100-80:8 --pool h800:8 -o wide
myriad fit --model llama3-8b --batch 64 --pool h100:16 --pool ascend-910b:8
myriad fit --model llama3-8b --batch 64 --pool h100:8 --pool a100-80:8 -o json
myriad fit --model llama3-405b --batch 64 --pool h100:8 --pool a100-80:8 -o json
