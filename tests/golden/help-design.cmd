myriad design --help
