myriad man --help
