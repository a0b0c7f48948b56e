myriad bench cpu
