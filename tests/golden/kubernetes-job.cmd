printf 'name: My Job\nnodes: 2\ncommand: [python3, train.py]\nimage: lab/train:1\ndirectory: /srv\nenv: {A: b}\npriority: 5\ntime_limit: 2h\n' > job.yaml
myriad kubernetes job job.yaml --namespace research
