myriad catalog --kind swithc
