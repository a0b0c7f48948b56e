myriad plan examples/h100-64.yaml --out out >/dev/null 2>&1
myriad design out/design.myr --device leaf/p0-g1-r5
