myriad plan
