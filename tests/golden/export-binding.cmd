# Names and GUIDs of a binding in place of the design's own, in formats that know them.
printf 'name: two\nservers: 2\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
myriad export ibnetdiscover d/design.myr --out fabric.topo > /dev/null
sed -i 's/node-00000/gpu-a/g; s/node-00001/gpu-b/g' fabric.topo
myriad bind d/design.myr fabric.topo --out b.yaml | head -n 4
myriad export slurm d/design.myr --binding b.yaml
myriad export slurm d/design.myr
myriad export slurm d/design.myr --binding b.yaml -o json | tail -n 12
myriad export slurm d/design.myr --out -
myriad export slurm d/design.myr --binding none.yaml 2>&1; echo $?
myriad export opensm d/design.myr 2>&1; echo $?
myriad export opensm d/design.myr --out - 2>&1; echo $?
myriad export opensm d/design.myr --out o | head -n 3
myriad export opensm d/design.myr -o csv | cut -c 1-60 | head -n 3
myriad export sonic-sn5600 d/design.myr --vrf --out v 2>&1; echo $?
myriad export slurm 2>&1; echo $?
myriad export slurm d/design.myr --catalog none.yaml 2>&1; echo $?
