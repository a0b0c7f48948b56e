myriad --help
