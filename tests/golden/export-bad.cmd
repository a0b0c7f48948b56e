myriad plan examples/h100-64.yaml --out d >/dev/null 2>&1
myriad export slrum d/design.myr
myriad export
myriad export slurm none.myr
myriad export netbox d/design.myr
myriad export opensm d/design.myr --net all --out o
myriad export frr d/design.myr --out o
myriad export frr d/design.myr --net oob --out o
myriad plan examples/h100-100k.yaml --out e >/dev/null 2>&1
myriad export slurm e/design.myr --net storage
