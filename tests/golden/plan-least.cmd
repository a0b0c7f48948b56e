echo 'servers: 64' > spec.yaml
myriad plan spec.yaml
