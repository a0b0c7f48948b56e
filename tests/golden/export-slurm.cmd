myriad plan examples/h100-128.yaml --out d >/dev/null 2>&1
myriad export slurm d/design.myr
myriad export slurm-block d/design.myr
myriad plan examples/nvl72-9k.yaml --out n >/dev/null 2>&1
myriad export slurm n/design.myr | head -n 3
myriad export slurm n/design.myr | tail -n 3
myriad export slurm-block n/design.myr | tail -n 2
