# All that the plan says but its question and its files is in the design's answer too.
myriad plan examples/h100-64.yaml -o yaml --out out | sed '1,/^name:/d; /^files:/,$d' >plan.yaml
myriad design out/design.myr -o yaml | sed '1,/^name:/d; /^physical:/,$d' | cmp - plan.yaml && echo the design file holds the whole plan
