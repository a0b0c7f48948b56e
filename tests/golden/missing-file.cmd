myriad plan no-such.yaml
