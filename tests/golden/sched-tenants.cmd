printf 'submit_s,duration_s,num_gpus,vc\n0,36000,8,b\n0,36000,8,b\n60,600,8,a\n60,600,8,c\n' > jobs.csv
printf 'tenants:\n  org:\n    weight: 3\n    cells: 1n\n    tenants:\n      a: {weight: 2}\n' > t.yaml
myriad sched replay jobs.csv --nodes 2 --leaf-nodes 2 --tenants t.yaml
myriad sched replay jobs.csv --nodes 2 --leaf-nodes 2 --own org/a=1n,2w -o json
