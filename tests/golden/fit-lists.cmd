myriad fit models
myriad fit models -o csv
myriad fit devices
myriad fit devices -o csv
myriad fit constants
myriad fit constants -o csv
