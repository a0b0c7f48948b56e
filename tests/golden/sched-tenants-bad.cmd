printf 'submit_s,duration_s,num_gpus,vc\n0,60,8,vision\n' > jobs.csv
printf 'tenants:\n  org:\n    tenants:\n      a: {wieght: 2}\n' > t.yaml
myriad sched replay jobs.csv --nodes 96 --tenants t.yaml
printf 'tenants: {a: {tenants: {b: {cells: 4x}}}}\n' > t.yaml
myriad sched replay jobs.csv --nodes 96 --tenants t.yaml
printf 'tenants: {a: {cells: 97n}}\n' > t.yaml
myriad sched replay jobs.csv --nodes 96 --tenants t.yaml
myriad sched replay jobs.csv --nodes 96 --own org/visoin=4n
myriad sched replay jobs.csv --nodes 96 --own vision=4
