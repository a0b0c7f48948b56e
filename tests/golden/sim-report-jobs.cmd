printf 'name: eight\nservers: 8\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790, leaf_down: 4, leaf_up: 4, tiers: 2}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
myriad sim --design e/design.myr --job allreduce:hier,16MB --job step:llama3-8b,tp=8,pp=2,micro_batch=1,global_batch=8,first=32 --lb spray --report p.html --fct f.csv
cat p.html
head -n 5 f.csv
tail -n 5 f.csv
wc -l f.csv
