myriad catalog quantum -o json
