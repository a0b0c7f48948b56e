myriad sim --topology fat-tree:k=4 --workload permutation:1MB,seed=3 --report p.html --heatmap h.svg --fct f.csv --pause 250 --queue-pairs 2 --efficiency 900 --sharing-loss 100 --message-overhead 3us --polarised
cat p.html h.svg f.csv
myriad sim --topology fat-tree:k=4 --workload permutation:1MB,seed=5 --report p.html >/dev/null
cat p.html
myriad sim --topology fat-tree:k=2 --workload permutation:1MB --heatmap h.svg >/dev/null
cat h.svg
for lb in spray ecmp; do myriad sim --topology fat-tree:k=4 --workload incast:5:1,1MB,seed=2 --lb $lb --heatmap h.svg >/dev/null; cat h.svg; done
printf 'name: torus\nservers: 8\nserver: generic-1gpu\nnetworks:\n  compute: {topology: torus, switch: mqm9790, dims: [4, 2]}\n' > t.yaml
myriad plan t.yaml --out t >/dev/null 2>&1
myriad sim --design t/design.myr --workload alltoall:1MB --heatmap h.svg --report p.html
cat h.svg p.html
myriad sim --topology fat-tree:k=8 --workload incast:9:1,1MB --heatmap h.svg >/dev/null
head -c 6000 h.svg
myriad sim --topology fat-tree:k=14,tiers=2 --workload permutation:1MB --heatmap h.svg >/dev/null
head -c 6000 h.svg
