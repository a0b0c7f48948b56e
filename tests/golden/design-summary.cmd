myriad plan examples/h100-64.yaml | sed '/^next:/d' >plan.txt
myriad plan examples/h100-64.yaml --out out >/dev/null
myriad design out/design.myr | sed '/^next:/d' | cmp - plan.txt && echo the design file holds the whole plan
