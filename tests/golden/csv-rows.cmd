# Rows that are longer than their header, and lists without any: nothing of them is guessed.
myriad plan examples/h100-64.yaml --out d >/dev/null 2>&1
printf 'part,price\nmqm9790-ns2f,208,000\n' > prices.csv
myriad plan examples/h100-64.yaml --prices prices.csv; echo "exit $?"
printf 'part,price\n' > prices.csv
myriad plan examples/h100-64.yaml --prices prices.csv; echo "exit $?"
for trace in 'submit,duration,gpus\n0,3600,1,024\n' 'submit|duration|gpus\n0|3600|1|024\n' \
    'submit,duration,gpus\n0,1:99:99,8\n' 'submit,duration,gpus\n0,3600,8\n7,3600,8,, \n'; do
    printf "$trace" > trace.csv
    myriad sched replay trace.csv --nodes 8 -o csv; echo "exit $?"
done
for state in '0,1,8,up,down\n' '0,1,8,up,\n'; do
    printf "node,job,gpus,state\n$state" > state.csv
    myriad sched place --design d/design.myr --nodes 1 --state state.csv -o csv; echo "exit $?"
done
printf 'software,hw,gpus,gbs,model,iter_s\nmegatron,h100,8,1,024,llama3-8b,2\n' > runs.csv
myriad fit validate runs.csv; echo "exit $?"
printf 'software,hw,gpus,gbs,model,iter_s\n' > runs.csv
myriad fit validate runs.csv; echo "exit $?"
printf 'part,quantity\nmqm9790-ns2f,1,024\n' > bom.csv
myriad plan audit bom.csv --spec examples/h100-64.yaml; echo "exit $?"
printf 'rack,item,count\nA1,h100-8gpu,1,024\n' > layout.csv
printf "part,quantity\nmqm9790-ns2f,1024\n" > bom.csv; myriad plan audit bom.csv --layout layout.csv --spec examples/h100-64.yaml; echo "exit $?"
printf 'port,hca-name\nnic0,mlx5_0,mlx5_1\n' > hca.csv
myriad verify d/design.myr --hca-map hca.csv d/cables.csv; echo "exit $?"
printf 'port,hca-name\n' > hca.csv
myriad verify d/design.myr --hca-map hca.csv d/cables.csv; echo "exit $?"
printf 'from,to\n0,1,1\n' > flows.csv
myriad route d/design.myr --flows flows.csv; echo "exit $?"
printf 'place,1,1,024\n' > events.csv
printf 'job_id,submit,duration,gpus\n=1+1,0,60,8\n-5,0,60,8\n' > trace.csv
myriad sched replay trace.csv --nodes 2 --schedule schedule.csv >/dev/null; cat schedule.csv
printf 'tenant,nodes\n' > tenants.csv
myriad export partitions d/design.myr --tenants tenants.csv --out x; echo "exit $?"
