myriad bind --help
