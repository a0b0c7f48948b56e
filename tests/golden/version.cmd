myriad --version | sed "s/[0-9.]* ([0-9a-f]\{7\})$/VERSION/"
