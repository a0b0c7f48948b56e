# The list of files has the paths that were written; in a folder, names within it.
printf 'name: lab\nservers: 16\nnetworks: {compute: {topology: rail, switch: mqm9790-ns2f}}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
printf 'tenant,nodes\na,0-3\n' > tenants.csv
for format in ibnetdiscover ibsim slurm slurm-block dot p2p nccl nccl-topo; do
    myriad export $format d/design.myr --out my-$format.txt | tail -n 1
    test -s my-$format.txt || echo "my-$format.txt is not there"
done
mkdir sub
myriad export partitions d/design.myr --tenants tenants.csv --out sub/keys.conf | tail -n 1
ls sub
mkdir there
myriad export p2p d/design.myr --out there
myriad export p2p d/design.myr --out my.csv -o json | grep '"name"'
ls there
