myriad bench gpu --help
