# '-' is standard input or output, or is refused.
myriad plan - --out out <examples/h100-64.yaml >/dev/null
myriad design - --device node/00003 <out/design.myr
myriad export p2p - --out - <out/design.myr | head -n 3
myriad export p2p out/design.myr --out p2p.csv >/dev/null
myriad verify out/design.myr - <p2p.csv | head -n 3
myriad bind out/design.myr p2p.csv --out - | head -n 2
myriad plan examples/h100-64.yaml --out -
echo $?
myriad export netbox out/design.myr --out -
echo $?
