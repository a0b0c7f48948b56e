myriad plan examples/h100-64.yaml -o json --out out >plan.json 2>/dev/null
myriad design out/design.myr -o json | cmp - plan.json && echo the design file holds the whole plan
