myriad plan examples/h100-64.yaml --out out >/dev/null 2>&1
# A cage's halves swapped, a cable that was never pulled, one in a stranger's port.
myriad export p2p out/design.myr | sed -e 's/nic0,leaf-p0-g0-r0,Switch,3\/1/nic0,leaf-p0-g0-r0,Switch,x/' \
    -e 's/nic0,leaf-p0-g0-r0,Switch,3\/2/nic0,leaf-p0-g0-r0,Switch,3\/1/' \
    -e 's/nic0,leaf-p0-g0-r0,Switch,x/nic0,leaf-p0-g0-r0,Switch,3\/2/' \
    -e '/^node-00007,Host,nic2,/d' \
    -e 's/^node-00040,Host,nic1,.*/node-00040,Host,nic1,stranger,Switch,7/' > built.csv
myriad verify out/design.myr built.csv
