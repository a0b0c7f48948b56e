# Storage by capacity, rate, operations and checkpoints; the building around it: what is said, and a
# digest of the whole answers and of each file.
look() {
  echo "== $1"; shift
  myriad "$@" > said.txt 2> err.txt; code=$?
  sed -n '1,/^Bill of materials/p' said.txt | sed '/^Bill of materials/d'; sed -n '/^Findings/,/^next/p' said.txt
  echo "[$code] $(md5sum < said.txt)"; cat err.txt
}
plan() {
  printf "name: hall\nservers: $2\nserver: h100-8gpu\nnetworks:\n$3\n$4\n" > s.yaml
  look "$1" plan s.yaml --out d --crews 2
  myriad plan s.yaml -o json 2>&1 | md5sum; myriad plan s.yaml --explain 2>&1 | md5sum
  (cd d 2> /dev/null && find . -type f | LC_ALL=C sort | xargs md5sum); rm -rf d
}
ib='  compute: {switch: mqm9790-ns2f}'
more="$ib\n  storage: {}\n  service: {}\n  oob: {}"
for storage in 'capacity: 3P' 'capacity_pb: 2, binary: true, erasure: {data: 8, parity: 2}' 'rate: better' 'servers: 7' 'iops: 90M, metadata_ops: 2M, files: 10G, file_kb: 64, scan_hours: 24' 'checkpoint: {model: llama3-405b, window_s: 30, keep: 2}, copies: 3' 'read_gbytes_per_s: 900, write_gbytes_per_s: 300, availability_percent: 99.9999' 'capacity: 500T, tiers: [{kind: hybrid, capacity_pb: 10, copies: 2}, {kind: object, capacity_pb: 40, erasure: {data: 10, parity: 4}}]'; do
  plan "storage: $storage" 64 "$more" "storage: {$storage}"
done
for facility in 'cooling: cold-plate, bill: true' 'cooling: immersion, bill: true, heat_reuse: 0.5' 'it_kw: 900, load: 0.7, energy: {tariff_per_kwh: 0.6, currency: CNY, years: 3, green_share: 0.4, exchange: 1}' 'per_gpu: {gpu_w: 700, host_w: 600, other_share: 0.2}, pue_max: 1.1, power_kw_max: 500' 'ups: {kind: 2n, module_kw: 250, minutes: 15}, supply: {kind: hvdc, volts: 800}, module: {racks: 12, kw: 300}' 'overheads: {fans: 0.1, pumps: 0.02, chiller: 0.2, ups: 0.05, transformer: 0.01, lighting: 0.01}, cdu: {kw: 600, derate: 0.9, spares: 2, per: row}, liquid: {share: 0.8, delta_k: 8, coolant: glycol-25, pipe_m: 60, head_kpa: 250}, cooling: cold-plate'; do
  plan "facility: $facility" 40 "$ib" "facility: {$facility}\nprices: {book: cn-2024-05}"
done
