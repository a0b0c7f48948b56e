myriad goodput --model llama3-8b --gpus 64 --device h100 --batch 128 --tokens 1e12 --report r.html | tail -n 3
cat r.html
