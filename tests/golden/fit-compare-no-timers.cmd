echo ' iteration 1/ 2 | elapsed time per iteration (ms): 5000.0 |' > run.log
myriad fit compare --log run.log --model llama3-8b --device h100 --gpus 8 --batch 64 --tp 2
