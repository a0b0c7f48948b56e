# The page and each plot, as they are written.
myriad fit --model mixtral-8x7b --gpus 32 --device h100 --batch 64 --top 3 --report r.html --plots p | tail -n 3
cat r.html; for f in p/*; do echo "== $f"; cat $f; done
