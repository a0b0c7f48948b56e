# A layout that is given is priced as it says: each of its words has its effect.
given() { echo "layout: {$1}" > l.yaml; echo "== $1 ${*:2}"
  myriad fit --device h100 --layout l.yaml "${@:2}" -o json 2>&1 |
    sed -n '/"best"/,/"terms_s"/p; /^myriad/p' | grep -vE 'null|: 0,$' | tr -d ' \n'; echo; }
base="tp: 2, pp: 2, dp: 4, micro_batch: 1, global_batch: 32"
for more in "" ", vp: 2" ", zero: 0" ", zero: 1" ", zero: 2" ", zero: 3" ", recompute: selective" ", recompute: full" \
  ", recompute: full, recompute_layers: 3" ", schedule: zero-bubble" ", schedule: dualpipe" ", schedule: interleaved, vp: 4" \
  ", precision: fp8" ", cp: 2" ", sequence_parallel: false" ", first_layers: 14" ", last_layers: 15" ", shard: 2" ", ep: 2" ", micro_batch: 2" ", seq: 4096" ", gradient_bytes: 2"; do
  given "$base$more" --model llama3-8b
done
for more in "" ", ep: 4" ", ep: 8" ", ep: 4, etp: 1" ", ep: 3"; do
  given "$base$more" --model mixtral-8x7b
done
given "$base" --model llama3-8b --batch 64
given "$base" --model llama3-8b --gpus 32
given "$base" --model llama3-8b --seq 2048
