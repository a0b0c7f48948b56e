myriad > overview
myriad --help | cmp - overview && echo the same as without a word
myriad help | cmp - overview && echo and so is help
