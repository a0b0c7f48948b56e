myriad fit --model llama3-8b --batch 64 --pool h100:8 --pool a100-80:8 --device h100
