# A name of the spec may be anything, those of containers and slugs may not.
for name in '北京 集群: #1 "a" & <b>' 'lab 2.0_x' '集群' '-.1'; do
    printf 'name: %s\nservers: 8\nnetworks: {compute: {switch: sn5600}}\n' "'$name'" > s.yaml
    myriad plan s.yaml --out d > /dev/null
    myriad export containerlab d/design.myr --out lab > /dev/null
    grep '^name' lab/topology.clab.yml
    myriad export netbox d/design.myr --out box > /dev/null
    tail -n 1 box/sites.csv
done
printf 'servers: 4\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
printf 'tenant,nodes\ndefault,0-1\n' > t.csv
myriad export partitions d/design.myr --tenants t.csv
printf 'tenant,nodes\na,0-1\nb,\n' > t.csv
myriad export partitions d/design.myr --tenants t.csv
