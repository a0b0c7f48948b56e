myriad catalog mfp7e30
