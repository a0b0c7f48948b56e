printf 'name: rails\nservers: 8\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790, leaf_down: 4, leaf_up: 4}\n' > s.yaml
myriad plan s.yaml --out r >/dev/null 2>&1
myriad path r/design.myr --nodes 0,5,3 --layout tp=8 --svg a.svg
myriad path r/design.myr --nodes 0,5,3 --layout tp=8 --svg a.svg -o wide
cat a.svg
myriad path r/design.myr --permutation 1 --policy ecmp --seed 4 --svg b.svg -o csv | head -n 40
cat b.svg
printf 'name: torus\nservers: 8\nserver: generic-1gpu\nnetworks:\n  compute: {topology: torus, switch: mqm9790, dims: [4, 2]}\n' > t.yaml
myriad plan t.yaml --out t >/dev/null 2>&1
myriad path t/design.myr --permutation 3 --svg c.svg -o wide
cat c.svg
myriad path r/design.myr --nodes 0,1 --layout tp=8 --policy spray -o csv
