printf 'name: x\ngpus: 8\ncommand: c\n' > job.yaml
printf 'name: x\ngpus: 8\ncommand: c\nimage: i\narray: 0-9\n' > many.yaml
printf 'current-context: c\nclusters: [{name: c, cluster: {server: 10.0.0.1}}]\ncontexts: [{name: c, context: {cluster: c}}]\n' > kubeconfig
myriad kubernetes job job.yaml
myriad kubernetes job many.yaml
myriad kubernetes schedule --kubeconfig nowhere
myriad kubernetes schedule --kubeconfig kubeconfig
myriad kubernetes schedule --kubeconfig kubeconfig --lease x
myriad kubernetes schedule --kubeconfig kubeconfig --hold long
myriad kubernetes shedule
myriad submit job.yaml --kubeconfig kubeconfig --image i --wait
