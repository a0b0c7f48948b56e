printf 'servers: 64\nserver: h100-8gpus\n' > spec.yaml
myriad plan spec.yaml
