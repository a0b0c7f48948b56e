# The order of 2024 as it was: what cannot be plugged together, all of it accepted.
myriad plan examples/h100-64.yaml --out out >/dev/null 2>&1
myriad design out/design.myr --check
myriad design out/design.myr --check -o csv
# An own catalogue in which the switch lost a cage.
printf 'switches: {mqm9790-ns2f: {cages: 31}}\n' >lost.yaml
myriad design out/design.myr --check --catalog lost.yaml -o csv
echo "exit code $?"
