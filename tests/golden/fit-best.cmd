myriad fit --model llama3-8b --gpus 16 --device h100 --batch 32 --top 2 --layout-out l.yaml
cat l.yaml
myriad fit --model llama3-8b --device h100 --layout l.yaml
myriad fit --model llama3-8b --device h100 --layout l.yaml -o json
myriad fit --model llama3-8b --gpus 16 --device h100 --batch 32 --top 2 -o wide | sed '/^Other/,$d'
