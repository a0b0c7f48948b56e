# Management ports of switches are ports of the out-of-band network, by whatever name of such a port.
myriad plan examples/h100-64.yaml --out out > /dev/null
myriad export p2p out/design.myr --net oob > oob.csv
for name in mgmt0 MGMT0 eth0 Management1; do
    sed "s/Switch,mgmt0/Switch,$name/" oob.csv > named.csv
    myriad verify out/design.myr named.csv --net oob | head -n 4; echo "exit ${PIPESTATUS[0]}"
done
# Two of them changed places: that is a fault, and the names say which.
awk -F, -v OFS=, '/^access-service-0,Switch,mgmt0/ {$1 = "agg-service-3"; print; next}
    /^agg-service-3,Switch,mgmt0/ {$1 = "access-service-0"} {print}' oob.csv > swapped.csv
diff oob.csv swapped.csv
myriad verify out/design.myr swapped.csv --net oob --list steps; echo "exit $?"
# A port that no such box has is not taken for the management port.
sed 's/Switch,mgmt0/Switch,console/' oob.csv > other.csv
myriad verify out/design.myr other.csv --net oob | head -n 4
# Of the compute network such cables are none.
myriad export p2p out/design.myr --net all > all.csv
myriad verify out/design.myr all.csv | head -n 12
