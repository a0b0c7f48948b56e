myriad catalog --help
