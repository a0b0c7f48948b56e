# Options that choose what is judged, and how.
myriad plan examples/h100-64.yaml --out d >/dev/null
myriad export p2p d/design.myr | sed '/^node-00007,Host,nic2,/d' > some.csv
myriad verify d/design.myr some.csv --partial; echo $?
myriad verify d/design.myr some.csv --list steps -o wide; echo $?
myriad verify d/design.myr some.csv --list ports -o wide; echo $?
for net in storage service oob all; do myriad verify d/design.myr some.csv --net $net | head -n 12; done
myriad export ibnetdiscover d/design.myr | sed 's/4xNDR/4xHDR/' > slow.topo
myriad verify d/design.myr slow.topo | head -n 20
myriad verify d/design.myr slow.topo --speed-map HDR=400 | head -n 8
myriad verify d/design.myr slow.topo --speed-map HDR; echo $?
myriad bind d/design.myr slow.topo --by-wiring --out b.yaml; echo $?
myriad bind d/design.myr slow.topo --binding b.yaml -o wide | head -n 8
myriad bind d/design.myr slow.topo --from p2p; echo $?
myriad verify d/design.myr slow.topo --binding b.yaml --speed-map HDR=400 | head -n 8
