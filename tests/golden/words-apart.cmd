# Options that do not go together, files that would be written over others, and answers that are
# seldom given: what is said, and that nothing is written or changed then.
myriad plan examples/h100-64.yaml --out d > /dev/null
cp examples/twin/crash-storm.yaml examples/day-of-jobs.csv data/tenants.csv .
printf 'schema: myriad.layout\nversion: 1\nlayout:\n  tp: 8\n  pp: 2\n  dp: 4\n' > layout.yaml
md5sum *.yaml *.csv d/design.myr > before.txt
say() { echo "\$ $*"; myriad "$@" < /dev/null 2>&1 | sed -n '1,/^$/p' | head -n 12; echo "[${PIPESTATUS[0]}]"; }
say plan examples/h100-64.yaml --gpus 64
say plan --gpus 64 --labels racks
say plan examples/h100-64.yaml --crews 2
say plan examples/h100-64.yaml --labels d/l.html
say plan examples/h100-64.yaml --lang zh
say plan examples/h100-64.yaml --date 2026-11-16
say plan examples/h100-64.yaml --revision B
say plan examples/h100-64.yaml --date 2026-13-45 --out e
say plan examples/h100-64.yaml --date 2026-02-29 --out e
say plan examples/h100-64.yaml --lang zh --crews 2 --out e
say plan examples/h100-64.yaml --cables-a-day 50 --out e
MYRIAD_PLAN_LANG=zh say plan examples/h100-64.yaml -o csv
say compare examples/h100-64.yaml examples/h100-128.yaml --lang zh
say plan examples/h100-64.yaml --next examples/h100-128.yaml
say plan examples/h100-64.yaml --next examples/h100-128.yaml --crews 2 --out e
say plan examples/h100-64.yaml --labels qr --crews 2 --out e
say plan grow examples/h100-64.yaml examples/h100-128.yaml --crews 2
say plan examples/h100-64.yaml --excel
MYRIAD_EXCEL=true say fit models --excel
say init spec layout.yaml --gpus 64
say path d/design.myr --nodes 0-3 --svg -
say sim sweep data/sim/sweep.yaml --out -
say sim compare before.txt before.txt --tolerance x
say sim compare before.txt before.txt --tolerance 1
say twin run crash-storm.yaml --save d
say twin run crash-storm.yaml --save crash-storm.yaml
say twin run crash-storm.yaml --state ./crash-storm.yaml
say twin run crash-storm.yaml --save one --state one
say sched place --design d/design.myr --model llama3-8b --layout layout.yaml --plot layout.yaml
say sched place --design d/design.myr --model llama3-8b --layout layout.yaml --plot d/../d/design.myr
say sched replay day-of-jobs.csv --design d/design.myr --schedule day-of-jobs.csv
say sched replay day-of-jobs.csv --design d/design.myr --report tenants.csv --tenants tenants.csv
say sched replay day-of-jobs.csv --design d/design.myr --schedule one --report one
say sched replay day-of-jobs.csv --design d/design.myr --schedule d/../one --report one
say sched replay day-of-jobs.csv --design d/design.myr --schedule d/./one --report ./d/one
say sched replay day-of-jobs.csv --design d/design.myr --plots d --report d/utilisation.svg
say kubernetes schedule --hold soon
say kubernetes schedule --lease nowhere
say kubernetes schedule --leaf-label a --leaf-label b --leaf-label c --leaf-label d
say kubernetes schedule --name "$(printf 'n%.0s' {1..61})"
say kubernetes schedule --name "$(printf 'n%.0s' {1..60})" --kubeconfig none
say fit why --model llama3-70b --device h100 --gpus 64 --batch 128 tp=1,pp=1 tp=8,pp=2
say fit why --model llama3-70b --device h100 --gpus 64 --batch 128 tp=8,pp=2 tp=1,pp=1
say fit why --model llama3-70b --device h100 --gpus 64 --batch 128 tp=8,pp=2 pp=2,tp=8
myriad fit why --model llama3-70b --device h100 --gpus 64 --batch 128 tp=8,pp=2 pp=2,tp=8 -o json | grep largest
say fit curve --model llama3-70b --gpus 64 --device h100 --batch 64
myriad plan examples/h100-128.yaml --out wide > /dev/null
for nodes in 64 65; do
  echo "== $nodes nodes of ranks"
  myriad sched place --design wide/design.myr --nodes $nodes | tail -n 5; myriad sched place --design wide/design.myr --nodes $nodes -o csv | wc -l
done
rm -r wide
say fit --model llama3-8b --device h100 --gpus 64 --batch 64 --layout layout.yaml --layout-out layout.yaml
say fit --model llama3-8b --device h100 --gpus 64 --batch 64 --layout layout.yaml --layout-out d/../layout.yaml
say fit --model llama3-8b --device h100 --gpus 64 --batch 64 --layout-out new.yaml --report ./new.yaml
say path d/design.myr --nodes 0-3 --svg d/../d/design.myr
md5sum *.yaml *.csv d/design.myr | diff before.txt - && ls
