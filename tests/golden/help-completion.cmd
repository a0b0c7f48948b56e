myriad completion --help
