# What 'init' writes for a server, option by option; of a design its nodes, GPUs and leaves.
printf 'servers: 6\nserver: generic-1gpu\nnetworks: {compute: {topology: clos, switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 4}}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
init() {
  rm -rf lab; echo "== $*"; myriad init lab "$@" 2>&1
  (cd lab 2> /dev/null && ls && cat myriad.yaml); }
init --user nobody
init --user nobody --cluster blue --nodes 'gpu-[01-04],big-7' --gpus-per-node 4 --nodes-per-leaf 2
init --user nobody --http 127.0.0.1:8080 --agents 127.0.0.1:8081 --pretend -o json
init --user nobody --design d/design.myr --world twin --speed 60 -o wide
# Names of one's own go with a design when there are as many; GPUs and leaves are the design's.
init --user nobody --design d/design.myr --nodes 'gpu-[1-6]' -o csv
init --user nobody --design d/design.myr --nodes 'gpu-[1-3]'
init --user nobody --design d/design.myr --gpus-per-node 3
init --user nobody --design d/design.myr --nodes-per-leaf 3
# One that has grown is called as 'design apply' calls it: numbers may be left out.
for n in 9 24; do
  sed "s/servers: 6/servers: $n/; s/generic-1gpu/h100-8gpu/; s/_down: 4/_down: 8/; s/_up: 4/_up: 8/" \
    s.yaml > $n.yaml; done
myriad plan grow 9.yaml 24.yaml --out grown > /dev/null
init --user nobody --design grown/design.myr | grep nodes:
# What another world heeds is refused.
init --user nobody --world twin --agents 127.0.0.1:0
init --user nobody --world slurm --pretend
init --user nobody --speed 2
init --user nobody --world slurm --hosts DNS:head,IP:10.0.0.1
init --user nobody --etcd http://127.0.0.1:1
init --user nobody --nodes 'gpu-[4-1]'
init --user nobody --nodes 'gpu-[11-08]'
init --user nobody --nodes 'gpu-[1-99999999]'
init --user nobody --nodes 'gpu-1,gpu-1'
init --user nobody --design none.myr
init --user no-such-user-here
init --user nobody --speed 0
init --user nobody --http nowhere
mkdir lab; myriad init lab --user nobody 2>&1; myriad init lab --user nobody 2>&1; echo "[$?]"
# Words that mean something in a file stand in it as they were said, or are refused by their option.
no() { rm -rf lab; myriad init lab "$@" 2>&1; echo "[$?]" $(ls lab 2> /dev/null); }
for odd in 'a"b' 'a\b' "a'b: #c" '{x}' '万卡'; do
  no --user nobody --cluster "$odd" > /dev/null; grep cluster lab/myriad.yaml
done
for odd in $'x"\nbeat_ms: 200 #' $'a\tb' $'\e[31m'; do no --user nobody --cluster "$odd"; done
for odd in '' -1 1000 'a b' a:b a/b $'a\nb' root; do no --user="$odd"; done
for odd in 'x"y' DNS: DNS:a,,DNS:b EMAIL:a@b 'DNS:a"' $'DNS:a\nb'; do
  no --user nobody --hosts "$odd"
done
for odd in --etcd-ca --etcd-key --etcd-certificate; do no --user nobody $odd none; done
