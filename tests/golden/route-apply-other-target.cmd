# What is of the other target, or of the other kind of network, is refused.
myriad plan examples/h100-64.yaml --out d > plan.txt
myriad plan examples/ascend-910b-1k.yaml --out e > plan.txt
myriad route apply d/design.myr --for opensm --hash xor --seeds none.csv --out x; echo $?
myriad route apply e/design.myr --for roce --binding none.yaml --out x; echo $?
myriad route apply d/design.myr --for roce --out x; echo $?
myriad route apply e/design.myr --for opensm --out x; echo $?
myriad export opensm e/design.myr --out x; echo $?
myriad export ibnetdiscover e/design.myr; echo $?
myriad export ibsim e/design.myr; echo $?
myriad route tables d/design.myr --dump /dev/zero; echo $?
myriad verify d/design.myr --excel x; echo $?
ls
# Every option of one target beside the other.
for odd in "--policy static" "--binding b.yaml"; do
  myriad route apply e/design.myr --for roce $odd --out x; echo $?
done
for odd in "--hash xor" "--seed 1" "--seeds s.csv" "--order o.csv"; do
  myriad route apply d/design.myr --for opensm $odd --out x; echo $?
done
