printf 'name: two\nservers: 8\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790, leaf_down: 4, leaf_up: 4}\n' > s.yaml
myriad plan s.yaml --out e >/dev/null 2>&1
D=e/design.myr
for o in table wide json; do
  myriad route $D --permutation 1 --policy adaptive --dead link/00000070 -o $o
  myriad route failover $D --permutation 1 -o $o
  myriad route failover $D --link link/00000064 -o $o
  myriad route degraded $D --dead link/00000070 -o $o
  myriad route blast $D --of leaf/p0-g0-r0,node/00001 --permutation 1 -o $o
  myriad route blast $D --of leaf/p0-g0-r0 -o $o
  myriad route apply $D --nodes 0,5 --layout tp=8 --out lfts -o $o
  myriad route apply $D --nodes 0,5 --layout tp=8 --policy static --out static -o $o
  myriad route tables $D --nodes 0,5 --layout tp=8 --dump lfts -o $o
  myriad path $D --nodes 0,5 --layout tp=8 -o $o
done
myriad route $D --policy planned --nodes 0-7 --layout tp=4,pp=2 --axis pp --pattern tree -o yaml
