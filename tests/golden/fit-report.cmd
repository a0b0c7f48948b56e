# The page and each plot, as they are written.
myriad fit --model mixtral-8x7b --gpus 32 --device h100 --batch 64 --top 3 --report r.html --plots p | tail -n 4
cat r.html; for f in p/*; do echo "== $f"; cat $f; done
# Of a layout that is given, all it says stays as it is on other numbers of GPUs.
for more in "recompute: full" "recompute: selective, zero: 2" "recompute: full, recompute_layers: 3, vp: 2" "precision: fp8, schedule: zero-bubble"; do
  echo "layout: {tp: 2, pp: 2, dp: 16, micro_batch: 2, global_batch: 64, $more}" > l.yaml
  echo "== $more"
  myriad fit --model llama3-8b --device h100 --layout l.yaml --report r.html | sed -n '/^The layout/,/^memory/p'
  sed 's/<path[^>]*>//g; s/<rect[^>]*>//g; s/<style.*<.style>//' r.html | grep -vE '^ *[.@#:a-z].*[{};]$' | tail -n +20
done
