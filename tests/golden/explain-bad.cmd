# Paths into a plan that are not there, plans that are not there, options that do not go together.
no() { echo "$ explain plan $*"; myriad explain plan "$@" 2>&1 | head -n 4; echo "[${PIPESTATUS[0]}]"; }
no power.facility_kw
no none.yaml power.facility_kw
no examples/h100-64.yaml power.nothing
no examples/h100-64.yaml networks[0].leaf
no examples/h100-64.yaml networks[9].leaf
no examples/h100-64.yaml networks[x].leaf
no examples/h100-64.yaml networks[0
no examples/h100-64.yaml 'bom[0].quantity'
no examples/h100-64.yaml .
no examples/h100-64.yaml a b
myriad plan examples/h100-64.yaml --out . > /dev/null
no power.facility_kw
no design.myr networks[0].spine
no design.myr power.facility_kw --prices none.csv
no examples/h100-64.yaml power.facility_kw --prices none.csv
no examples/h100-64.yaml networks[0].spine --next examples/h100-128.yaml
no examples/h100-128.yaml networks[0].spine --next examples/h100-64.yaml
myriad export sonic-sn5600 design.myr --vrf; echo $?
myriad export partitions design.myr; echo $?
myriad export; echo $?
