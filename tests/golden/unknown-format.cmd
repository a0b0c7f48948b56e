myriad plan -o jsn examples/h100-64.yaml
