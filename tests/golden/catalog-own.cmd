printf 'switches:\n  my-switch: {cages: 32, form: osfp, cage_gbps: 800, port_gbps: 400}\n' > own.yaml
myriad catalog my-switch --catalog own.yaml
