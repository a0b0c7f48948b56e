myriad goodput --gpus 4096 --play 500 --target 0.97
myriad goodput --gpus 4096 --rate rsc-2 --fault hang -o wide
myriad goodput --gpus 4096 --rate 5 --stall 3 --interval 900 --recovery 120 -o json
myriad goodput classes --gpus 16384
myriad goodput classes --gpus 16384 --rate rsc-1 -o csv
myriad goodput parts --fault node-lost
myriad goodput parts -o csv
myriad goodput data --gpus 100000
myriad goodput data -o csv
