# What an answer proposes is a line of its own that can be pasted, with all that shaped the answer.
myriad plan examples/h100-64.yaml --out d > /dev/null
printf 'racks: {my-rack: {title: a rack, rack_units: 42, watts: 0}}\n' > own.yaml
paste_next() {
  echo "== $*"
  myriad "$@" > said.txt 2>&1
  sed -n '/^next/,$p' said.txt
  sed -n '/^next/,$p' said.txt | sed -e 's/^next: //' -e '/^next/d' -e 's/^  //' > pasted.sh
  . ./pasted.sh > again.txt 2>&1; echo "exit $?"
}
fit="fit --model llama3-8b --gpus 64 --device h100 --batch 128 --seq 4096"
paste_next $fit --software 'Megatron-Bridge 25.09' --recipe cuda_graphs=none --layout-out l.yaml
grep -o '0\.774 s' said.txt again.txt | sort | uniq -c
paste_next $fit --software 'Megatron-Bridge 25.09' --tp 2
paste_next route d/design.myr --policy ecmp
paste_next route d/design.myr --policy ecmp --seed 3 --nodes 0-7 --dead spine/p0-0
paste_next route d/design.myr --policy spray --permutation 3
paste_next route failover d/design.myr --net storage
paste_next route degraded d/design.myr --net storage
paste_next path d/design.myr --nodes 0-3 --layout tp=8 --policy ecmp
paste_next sched place --design d/design.myr --nodes 4 --tp 8 --exclude 3
paste_next sched place --design d/design.myr --nodes 4 --tp 8 --plot gang.svg
paste_next sched replay examples/day-of-jobs.csv --nodes 64 --policy preempt
paste_next goodput --gpus 512 --fault hang
paste_next sim --topology fat-tree:k=4 --workload permutation:1MB --seed 3 --save run.state --at 1us
paste_next catalog --catalog own.yaml
paste_next catalog no-such-part --kind switch
paste_next fit validate data/own-runs.csv
paste_next fit calibrate data/own-runs.csv --constants 2
paste_next fit curve --model llama3-8b --gpus 100 --device h100 --batch 128
paste_next fit curve --model llama3-8b --gpus 64 --device h100 --batch 128 --tp 2
# Constants are proposed where they are worth it, for the runs' own question.
paste_next fit calibrate data/own-runs.csv --constants 2 --out mine.yaml
printf 'software,hw,gpus,gbs,iter_s,model\nnemo 25.02,h100,64,128,1.5,llama3-8b\n' > one.csv
paste_next fit calibrate one.csv --out one.yaml
# What is read once cannot be pasted: no line, in place of one that would wait or fail.
cp l.yaml ./-l.yaml
paste_next route d/design.myr --layout=-l.yaml
for layout in - /dev/stdin /dev/fd/0; do
  paste_next route d/design.myr --layout $layout < l.yaml
  paste_next fit --layout $layout --design d/design.myr --model llama3-8b --batch 128 --seq 4096 < l.yaml
done
paste_next plan - < examples/h100-64.yaml
paste_next plan <(cat examples/h100-64.yaml)
