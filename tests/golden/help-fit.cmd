myriad fit --help
