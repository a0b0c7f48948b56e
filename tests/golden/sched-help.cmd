myriad sched --help
