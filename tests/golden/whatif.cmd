# Questions of each kind to one state: what is lost, added, moved, started, refused.
myriad twin run examples/twin/crash-storm.yaml --state state.myr >/dev/null
ask() { echo "== $*"; myriad whatif state.myr "$@"; echo $?; myriad whatif state.myr "$@" -o json; }
ask --add-gpus 64
ask --lose-leaf 2 --submit-gpus 512
ask --lose-leaf 0
ask --submit-gpus 8 --lose 3
ask --submit-gpus 16 --priority 9
ask --lose 0-40 --add-gpus 17
ask --lose node/00012,3
for of in job/170 job/1 job/179 node/00012 node/00003; do
  myriad explain state.myr $of; echo $?; myriad explain state.myr $of -o json
done
myriad whatif state.myr --lose 99999; echo $?
myriad whatif state.myr --lose-leaf 99; echo $?
myriad whatif state.myr; echo $?
myriad explain state.myr job/9999; echo $?
