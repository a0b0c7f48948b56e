bad() { myriad goodput "$@" 2>&1; echo $?; }
bad
for odd in '--rate x' '--rate -1' '--rate 0' '--fault fire' '--target 1.5' '--target 0' '--interval 0' '--interval x' '--recovery -3' '--stall x' '--play 0' '--gpus-per-node 0' '--tokens 1e12' '--gpu-hour 3' '--spare-risk 2' '--pue 0.5' '--kwh -1' '--years 0' '--currency' '--report r.html' '--design none.myr'; do
  bad --gpus 4096 $odd | head -n 2
done
for odd in '--tokens x' '--tokens 0' '--pue 0.5' '--kwh -1' '--spare-risk 2' '--gpu-hour x' '--years 0 --design none.myr' '--years 9' '--interval 60' '--batch 0' '--report none/r.html'; do
  bad --model llama3-8b --gpus 64 --device h100 --batch 128 $odd | head -n 2
done
bad classes --rate x
bad parts --fault fire
bad data x
