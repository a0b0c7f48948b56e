myriad plan --help
