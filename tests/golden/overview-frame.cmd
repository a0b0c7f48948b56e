# What all verbs share: width, colour, the mark for spreadsheets, variables, help, nearest words.
myriad plan examples/h100-64.yaml --out d >/dev/null
for columns in 19 20 47 80 10000 10001 x ''; do echo "COLUMNS=$columns"; COLUMNS=$columns myriad route failover d/design.myr; done
myriad route degraded d/design.myr --color always
MYRIAD_COLOR=always myriad whatif --help | head -n 3
myriad fit nothing --color never; echo $?
myriad catalog h100 -o csv --excel | head -c 40 | od -c | head -n 2
MYRIAD_EXCEL=1 myriad catalog mfp7e30 | head -n 2
myriad catalog mfp7e30 --excel; echo $?
MYRIAD_OUTPUT=csv myriad catalog mfp7e30
MYRIAD_OUTPUT=nothing myriad catalog mfp7e30; echo $?
MYRIAD_GOODPUT_GPUS=512 myriad goodput -o csv | cut -d, -f1-6
MYRIAD_GOODPUT_GPUS=0 myriad goodput; echo $?
for word in 'fit cruve' 'rout' 'twin' 'twin rnu' 'sched' 'job' 'node' 'help' 'help fit curve' 'help nothing' 'fit help' '-h' 'goodput --gpus' 'goodput --gpus=512 --gpus 1024' 'goodput --no-such' 'fit --no-exhaustive' 'sim --no-seed 1' 'plan --' 'fit -x' 'completion' 'bench' 'bench gpu x'; do
  echo "== $word"; myriad $word 2>&1 </dev/null | head -n 6; echo "${PIPESTATUS[0]}"
done
