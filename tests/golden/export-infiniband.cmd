printf 'name: two\nservers: 2\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f}\n  storage: {switch: mqm9790-ns2f}\n' > s.yaml
myriad plan s.yaml --out d >/dev/null 2>&1
myriad export ibnetdiscover d/design.myr --net storage
myriad export ibsim d/design.myr --net storage | head -n 12
myriad export opensm d/design.myr --net storage --out osm
tail -n +1 osm/*
