myriad plan examples/h100-64.yaml
