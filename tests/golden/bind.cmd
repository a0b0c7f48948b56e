myriad plan examples/h100-64.yaml --out out >/dev/null 2>&1
myriad export ibnetdiscover out/design.myr --out fabric.txt
myriad bind out/design.myr fabric.txt --out binding.yaml
sed -n '1,8p;/leaf.p0-g0-r0/p' binding.yaml
cp binding.yaml before.yaml
myriad bind out/design.myr fabric.txt --binding binding.yaml --out ./binding.yaml
cmp before.yaml binding.yaml && echo the same again
myriad bind out/design.myr fabric.txt --out fabric.txt
echo "exit $?"
