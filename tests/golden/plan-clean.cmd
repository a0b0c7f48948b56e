# A plan of which there is nothing to say: no findings, and no heading for them.
printf 'name: clean\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 4}\nprices:\n  parts: {h100-8gpu: 2000000, mqm9790-ns2f: 208000, mma4z00-ns: 9000, mma4z00-ns400: 6000, mfp7e10-n050: 850}\n' > s.yaml
myriad plan s.yaml
myriad plan s.yaml -o wide | md5sum
