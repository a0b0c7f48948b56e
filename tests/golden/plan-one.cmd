# One of a thing is told as one: a tier, a spine, a server, a copy; and islands that are not built.
printf 'servers: 1\n' > one.yaml
myriad compare one.yaml one.yaml | head -n 2
printf 'servers: 127\nnetworks: {compute: {topology: clos, leaf_down: 7, leaf_up: 3}}\n' > pods.yaml
myriad plan pods.yaml | grep -A1 partial-pod
(cat one.yaml; printf 'networks: {compute: , storage: }\nstorage: {capacity_tb: 100, copies: 1}\n') > copy.yaml
myriad explain plan copy.yaml storage.availability.share
myriad plan --gpus 7 | grep '^compute:'
myriad plan --gpus 0 2>&1 || echo "exit $?"
printf 'servers: 127\nnetworks: {compute: {topology: islands, islands: 5}}\n' > islands.yaml
myriad plan islands.yaml 2>&1 || echo "exit $?"
