for o in table wide json yaml csv; do
  myriad sim --topology fat-tree:k=4 --workload permutation:1MB --seed 3 --message-overhead 2us --slow node/00001:0.5 --fault link/20:degrade=0.5@1us -o $o
  myriad sim --topology fat-tree:k=4 --job allreduce:1MB --job incast:3:1,1MB --lb planned --polarised --queue-pairs 2 -o $o
done
myriad sim contention --topology fat-tree:k=4 --out c.json --lb adaptive --polarised -o json | head -n 60
myriad sim --topology fat-tree:k=4 --workload permutation:1MB --net storage
myriad sim --topology fat-tree:k=4 --workload permutation:1MB --report no/such/folder/r.html
myriad sim --design none --topology fat-tree:k=4 --workload permutation:1MB
