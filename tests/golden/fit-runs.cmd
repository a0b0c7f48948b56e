cat > runs.csv <<'R'
software,model,hw,gpus,tp,pp,mbs,gbs,precision,recompute,iter_s
NeMo 25.05,llama3-8b,h100,64,1,1,1,128,bf16,none,2.9
NeMo 25.05,llama3-8b,h100,128,1,1,2,512,bf16,none,5.6
NeMo 25.05,llama3-70b,h100,256,4,4,1,256,bf16,none,8.4
NeMo 25.05,llama3-70b,h100,512,8,2,1,512,bf16,none,9.1
NeMo 25.05,llama3-8b,h100,64,1,2,1,128,bf16,none,3.3
NeMo 99.01,llama3-70b,NVIDIA H100 80GB,1024,8,4,,1024,bf17,none,
NeMo 25.05,llama3-8b,v100,8,1,1,1,8,bf16,none,1
R
myriad fit validate runs.csv
myriad fit validate runs.csv -o json
myriad fit calibrate runs.csv --constants 2 --out mine.yaml
cat mine.yaml
myriad fit calibrate runs.csv --constants 2 -o json
