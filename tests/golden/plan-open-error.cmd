printf 'servers: 4\nnetworks: {compute: {pin: {nic_optic: mma1z00-ns400}}}\n' > spec.yaml
myriad plan spec.yaml
