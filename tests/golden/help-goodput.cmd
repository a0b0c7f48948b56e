myriad goodput --help
