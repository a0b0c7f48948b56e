myriad catalog
