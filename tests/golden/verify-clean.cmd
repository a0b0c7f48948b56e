myriad plan examples/h100-64.yaml --out out >/dev/null 2>&1
myriad export ibsim out/design.myr --out fabric.net
myriad verify out/design.myr fabric.net || true
myriad verify out/design.myr fabric.net --speed-map HDR=400
