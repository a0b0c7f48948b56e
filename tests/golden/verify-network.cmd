# A network that the design has not is bad input, not a fabric without cables.
printf 'name: lab\nservers: 16\nnetworks: {compute: {switch: mqm9790-ns2f}}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
myriad export p2p d/design.myr --out p2p.csv > /dev/null
for net in storage service oob; do
    myriad verify d/design.myr p2p.csv --net $net 2>&1; echo "exit $?"
    myriad verify orders d/design.myr p2p.csv --net $net 2>&1; echo "exit $?"
    myriad bind d/design.myr p2p.csv --net $net 2>&1; echo "exit $?"
    myriad export p2p d/design.myr --net $net 2>&1; echo "exit $?"
done
myriad verify d/design.myr p2p.csv --net all | head -n 1; echo "exit ${PIPESTATUS[0]}"
