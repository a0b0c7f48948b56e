# A pipe where a measured table could lie is refused, and not waited for.
printf 'servers: 8\nserver: h100-8gpu\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
printf 'layout: {tp: 8, dp: 8, global_batch: 64}\n' > l.yaml
mkfifo d/contention.json
for verb in fit goodput 'sched place'; do
  myriad $verb --model llama3-8b --design d/design.myr --layout l.yaml 2>&1 | tail -1
done
