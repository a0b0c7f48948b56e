myriad
