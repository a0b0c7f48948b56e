printf 'cluster: {nodes: 4}\njobs:\n  - {gpus: 8, hours: soon}\n' > bad.yaml
myriad twin run bad.yaml
