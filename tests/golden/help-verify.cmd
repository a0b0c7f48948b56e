myriad verify --help
