myriad catalog --kind switch
