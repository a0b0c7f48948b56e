myriad twin run examples/twin/crash-storm.yaml --seed 2 --report r.html --save c.yaml --state s.myr | tail -n 3
sed 's/[0-9.]* s of wall time//' r.html | head -c 20000
myriad twin run examples/twin/crash-storm.yaml --report same --save same; echo $?
myriad twin run examples/twin/crash-storm.yaml --report none/r.html; echo $?
myriad twin run none.yaml; echo $?
myriad twin replay examples/twin/crash-storm.yaml; echo $?
sed '/^hash: 0/{s/0/1/;b};s/^hash: ./hash: 0/' c.yaml > other.yaml; myriad twin replay other.yaml | tail -n 2; echo $?
myriad twin search examples/twin/crash-storm.yaml --seeds 2 --seed 5
