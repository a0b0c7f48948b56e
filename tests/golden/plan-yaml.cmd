myriad plan examples/ascend-910b-1k.yaml -o yaml
