printf 'submit_s,duration_s,num_gpus\n0,60,8\n5,soon,8\n' > jobs.csv
myriad sched replay jobs.csv --nodes 96
