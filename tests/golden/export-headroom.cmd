# What a lossless port keeps free, by speed and length of its cable, and which lanes each port has: each
# row of the tables of both switches.
for box in sn5600:sonic-sn5600 z9864f:sonic-z9864f; do
  for gbps in 100 200 400 800; do
    for length in 5 6 40 41 300 301; do
      printf 'name: t\nservers: 2\nserver: h100-8gpu\naccept: [no-optics]\nnetworks:\n  compute: {switch: %s, nic_gbps: %s, uplink_gbps: %s, leaf_down: 2, leaf_up: 2, length_m: {host_leaf: %s, leaf_spine: %s}}\n' ${box%:*} $((gbps < 400 ? gbps : 400)) $gbps $length $length > s.yaml
      rm -rf d e; myriad plan s.yaml --out d > /dev/null 2> err.txt || { echo "$box $gbps $length: $(grep -v '^hint' err.txt)"; continue; }
      myriad export ${box#*:} d/design.myr --out e > /dev/null 2> err.txt || { echo "$box $gbps $length: $(cat err.txt)"; continue; }
      echo "$box $gbps $length: $(grep -hoE '"(size|xoff|xon|xon_offset)": *"[0-9]+"|"pg_lossless[^"]*"' e/*/config_db.json | sort -u | tr -d ' ' | tr '\n' ' ')"
    done
  done
  for ports in 32 64 128; do
    printf 'name: t\nservers: 16\nserver: h100-8gpu\naccept: [no-optics]\nnetworks:\n  compute: {switch: %s, nic_gbps: 400, topology: clos, tiers: 2, leaf_down: %s, leaf_up: %s, length_m: {host_leaf: 3, leaf_spine: 3}}\n' ${box%:*} $((ports / 2)) $((ports / 2)) > s.yaml
    rm -rf d e; myriad plan s.yaml --out d > /dev/null 2> err.txt || cat err.txt
    myriad export ${box#*:} d/design.myr --out e > /dev/null 2> err.txt || { cat err.txt; continue; }
    echo "$box $ports ports: $(grep -hoE '"(lanes|speed|alias|index)": *"[^"]*"' e/leaf*/config_db.json | sort -u | tr -d ' ' | tr '\n' ' ')"
  done
done
