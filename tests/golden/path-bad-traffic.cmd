# Options that contradict each other, or that would be ignored, are refused.
myriad plan examples/h100-64.yaml --out d > plan.txt
myriad path d/design.myr --permutation 1 --nodes 0-3; echo $?
myriad path d/design.myr --permutation 1 --layout tp=8; echo $?
printf 'from,to\n0,8\n' > flows.csv
myriad route d/design.myr --flows flows.csv --permutation 1; echo $?
myriad route failover d/design.myr --flows flows.csv --axis dp; echo $?
myriad path d/design.myr --flows /dev/zero; echo $?
myriad path d/design.myr --layout none.yaml; echo $?
