# The line of what comes next holds every option that decides.
cp examples/h100-64.yaml 'my spec.yaml'
printf 'racks: {my-rack: {title: a rack, rack_units: 42, watts: 0}}\n' > own.yaml
myriad plan 'my spec.yaml' --catalog own.yaml --explain | tail -n 1
myriad plan 'my spec.yaml' --out d > plan.txt
myriad route d/design.myr --dead spine/p0-0 --permutation 3 --polarised | tail -n 1
myriad export p2p d/design.myr | sed 2d > cut.csv
myriad verify d/design.myr cut.csv --from p2p --equivalent | tail -n 1
