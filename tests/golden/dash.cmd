# '-' is standard input or output, or is refused.
myriad plan - --out out <examples/h100-64.yaml >/dev/null
myriad design - --device node/00003 <out/design.myr
myriad export p2p - --out - <out/design.myr | head -n 3
myriad export p2p out/design.myr --out p2p.csv >/dev/null
myriad verify out/design.myr - <p2p.csv | head -n 3
myriad bind out/design.myr p2p.csv --out - | head -n 2
myriad plan examples/h100-64.yaml --out -
echo $?
myriad export netbox out/design.myr --out -
echo $?
# What is written beside an answer never comes in front of it.
no() { echo "$ myriad $*"; myriad "$@" 2>&1; echo "[$?]"; }
case='--model llama3-8b --gpus 16 --device h100 --batch 32'
no fit $case --layout-out -
no fit $case --report /dev/stdout -o json
no fit $case --plots -
no fit launch $case --out -
no fit calibrate data/own-runs.csv --out -
no goodput $case --report -
no sched place --design out/design.myr --nodes 8 --plot -
no twin run examples/twin/crash-storm.yaml --state -
no twin run examples/twin/crash-storm.yaml --save /dev/fd/1
no twin search examples/twin/crash-storm.yaml --save -
no compare examples/h100-64.yaml examples/h100-128.yaml --picture -
no bench gpu --out -
no sim --topology fat-tree:k=4 --workload permutation:1MB --save - --at 50us
no verify orders out/design.myr p2p.csv --out -
myriad export p2p out/design.myr --out /dev/stdout | cmp - p2p.csv
# Standard input is read once: by all sides of a comparison, and by one reader.
printf 'part,price,currency\nmqm9790-ns2f,7,CNY\n' >prices.csv
of='examples/h100-64.yaml examples/h100-64.yaml --workload permutation:1MB -o json'
myriad compare $of --prices - <prices.csv >piped.json
myriad compare $of --prices prices.csv | sed 's/"prices.csv"/"-"/' | cmp - piped.json && echo same
no compare - - <examples/h100-64.yaml
no plan - --prices - <prices.csv
# Layouts and designs that two readers of one question want are read once all the same.
gang='--model llama3-8b -o json'
myriad fit --model llama3-8b --design out/design.myr --batch 512 --layout-out l.yaml >/dev/null
myriad sched place $gang --design out/design.myr --layout l.yaml >files.json
echo $?
as_files() { sed -e 's#"-"#"out/design.myr"#;s#"/dev/fd/63"#"out/design.myr"#' | cmp - files.json && echo same; }
myriad sched place $gang --design out/design.myr --layout - <l.yaml | sed 's#"-"#"l.yaml"#' | cmp - files.json && echo same
myriad sched place $gang --design - --layout l.yaml <out/design.myr | as_files
myriad sched place $gang --design <(cat out/design.myr) --layout l.yaml | as_files
