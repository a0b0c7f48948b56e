# A layout without 'dp' has replicas on all GPUs of the design, whoever is asked.
myriad plan examples/h100-64.yaml --out out >/dev/null
printf 'layout: {tp: 8, pp: 2}\n' >l.yaml
of='--model llama3-8b --design out/design.myr --layout l.yaml --batch 64'
step() { grep -oE '"(step_s|dp)": [0-9.]+' | sort -u | tr '\n' ' '; echo; }
myriad fit $of -o json | step
myriad sched place $of -o json | step
myriad goodput $of -o json | step
myriad fit $of --gpus 64 -o json | step
printf 'layout: {tp: 8, pp: 2, dp: 3, global_batch: 48}\n' >l.yaml
myriad fit --model llama3-8b --design out/design.myr --layout l.yaml -o json | step
