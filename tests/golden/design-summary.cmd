myriad plan examples/h100-64.yaml --out out >plan.txt 2>/dev/null
myriad design out/design.myr | cmp - plan.txt && echo the design file holds the whole plan
