myriad fit --model llama3-8b --batch 64 --pool h100:0 --pool a100-80:8
