# What is asked next keeps what was asked; options that do nothing are refused; one is one.
printf 'submit_time,duration,gpus\n0,3600,8\n1,100,8\n' > two.csv
printf 'submit_time;duration;gpus\n0;3600;8\n' > semicolons.csv
printf 'submit_time,duration,gpus\n0,3600\n' > short.csv
myriad sched replay two.csv --nodes 1 --leaf-nodes 1 --policy preempt --jitter 5
myriad sched replay two.csv --nodes 1 --leaf-nodes 1 --policy preempt --jitter 5 --explain longest | tail -n 5
myriad sched replay two.csv --nodes 1 --seed 4
myriad sched replay two.csv --nodes 1 --schedule -
myriad sched replay two.csv --nodes 1 --schedule s.csv --report /dev/null/r.html
ls s.csv
myriad sched replay semicolons.csv --nodes 1
myriad sched replay short.csv --nodes 1
