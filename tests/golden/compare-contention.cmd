# Thin fabrics and hashes that meet: what contention costs a step is in the comparison.
spec() { printf 'name: %s\nservers: 16\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, %s}\n' "$1" "$2" > $1.yaml; }
spec even 'leaf_down: 4, leaf_up: 4'
spec thin 'leaf_down: 4, leaf_up: 1'
for more in '' '--lb ecmp' '--tp 4 --pp 1 --zero 3 --lb planned --lb ecmp'; do
  myriad compare even.yaml thin.yaml --model llama3-8b --batch 256 $more | sed '/^FIGURE/,/^$/!d'
done
