myriad submit --help
myriad job --help
myriad node drain --help
myriad doctor --help
myriad agent --help
