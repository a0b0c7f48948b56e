# Servers of storage tiers are ordered and not cabled: the program's own bill has no finding,
# whatever cards they have, and what a list has in place of the flash is still judged.
audit() {
    printf 'servers: 32\nnetworks: {compute: {switch: mqm9790-ns2f}, storage: {switch: mqm9790-ns2f}}\nstorage: {capacity_pb: 1, %s}\n' "$1" > s.yaml
    myriad plan s.yaml --out out > /dev/null
    echo "== $1: $(grep -c 'storage server' out/bom.csv) lines of storage servers"
    sed -e "${2-}" out/bom.csv > list.csv
    myriad plan audit list.csv --spec s.yaml 2>&1 | grep -v '^more' || true
}
audit 'tiers: [{kind: hybrid, capacity_pb: 5}]'
audit 'tiers: [{kind: object, capacity_pb: 5}, {kind: hybrid, capacity_pb: 1}]'
audit 'tiers: [{kind: object, capacity_pb: 5, server: hybrid}]'
audit 'server: flash-22x15-cx7, tiers: [{kind: hybrid, capacity_pb: 5}]' 's/FLASH-22X15.36-CX7/FLASH-22X15.36/'
