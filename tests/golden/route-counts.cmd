# Counts in sentences: one of a thing is one, and digits are grouped as in tables.
printf 'servers: 2\n' > two.yaml; myriad plan two.yaml --out two > /dev/null
printf 'servers: 31\n' > many.yaml; myriad plan many.yaml --out many > /dev/null
printf 'gpu/00000/0,gpu/00030/0\n' > f.csv
myriad path two/design.myr --nodes 0-1 --layout tp=8,pp=2 | grep uses
myriad route many/design.myr --flows f.csv | grep 'dead links'
myriad export p2p many/design.myr > all.csv
grep -v '^node-00030,[^,]*,nic0,' all.csv > less.csv
myriad route found many/design.myr less.csv --flows f.csv --partial | grep 'without a way'
myriad route found many/design.myr less.csv --flows f.csv | grep 'without a way'
myriad route found many/design.myr all.csv --permutation 1 | grep 'without a way'
printf 'name: wide\nservers: 256\nnetworks: {compute: {topology: rail}}\n' > wide.yaml
myriad plan wide.yaml --out wide > /dev/null
myriad export p2p wide/design.myr | myriad verify wide/design.myr - | grep -e 'all ' -e right
