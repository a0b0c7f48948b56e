myriad plan --ouput json examples/h100-64.yaml
