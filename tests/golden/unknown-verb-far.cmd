myriad xyzzy
