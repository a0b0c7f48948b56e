myriad plan examples/h100-64.yaml examples/h100-128.yaml
