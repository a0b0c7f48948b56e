myriad sim --topology fat-tree:k=4 --workload permutation:1MB,seed=3 --report p.html --heatmap h.svg --fct f.csv --pause 250 --queue-pairs 2 --efficiency 900 --sharing-loss 100 --message-overhead 3us --polarised
cat p.html h.svg f.csv
