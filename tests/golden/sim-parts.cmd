# Part files of a sweep belong to one file of settings: any change in it, and they are another's.
base() { printf 'topology: fat-tree:k=4,gbps=100\nworkload: "{kind}:{size}"\nknobs:\n  kind: [permutation, alltoall]\n  size: [1MB, 2MB]\nlb: [ecmp, spray]\nseed: 3\n'; }
go() { myriad sim sweep s.yaml --workers 1 --out o.csv 2>&1 | grep -vE '^ |^$' | head -n 6; echo "[${PIPESTATUS[0]}]"; ls; }
base > s.yaml; go; cp o.csv whole.csv
for change in 's/1MB, 2MB/1MB, 3MB/' 's/1MB, 2MB/2MB, 1MB/' 's/kind/sort/g' 's/seed: 3/seed: 4/' 's/gbps=100/gbps=200/' 's/lb: .ecmp, spray./lb: [spray, ecmp]/' \
    's/^seed: 3/seed: 3\nfault: ["link\/20:down@10us"]/' 's/^seed: 3/seed: 3\nslow: ["node\/00001:0.5"]/' 's/^seed: 3/seed: 3\nefficiency: 900/'; do
  echo "== $change"; rm -f o.csv; base | sed "$change" > s.yaml; go
done
echo '== the same again'; base > s.yaml; rm -f o.csv; go; cmp o.csv whole.csv
# As tasks of an array: the same parts as by numbers.
rm -f o.csv*
for task in 5 7; do SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_STEP=2 myriad sim sweep s.yaml --workers 1 --out o.csv -o csv 2>&1 | cksum; ls; done
cmp o.csv whole.csv
SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_STEP=2 myriad sim sweep s.yaml --out p.csv; echo $?
myriad sim sweep s.yaml --out p.csv; echo $?
myriad sim sweep s.yaml --shard 3/2 --out p.csv; echo $?
myriad sim sweep s.yaml --shard 0/2 --out p.csv; echo $?
