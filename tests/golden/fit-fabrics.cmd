# The search and every layout one by one, on designs whose groups lie near and far: the same best ones.
spec() { printf "name: d\nservers: $1\nserver: $2\nnetworks:\n  compute: {$3}\n" > s.yaml; myriad plan s.yaml --out d > /dev/null 2>&1; }
both() {
  echo "== $*"
  myriad fit "$@" --design d/design.myr --top 4 --exhaustive -o csv > slow.csv 2>&1
  myriad fit "$@" --design d/design.myr --top 4 -o csv 2>&1 | cmp - slow.csv && cut -d, -f1-18 slow.csv | tail -n +2
  myriad fit "$@" --design d/design.myr -o json | grep -E '^  "(evaluated|costed)"' | tr -d ' \n'; echo
}
spec 3 h100-8gpu 'switch: mqm9790-ns2f, leaf_down: 16, leaf_up: 4'
both --model mixtral-8x7b --batch 24 --zero 1 --mbs 1 --vp 1
both --model llama3-8b --batch 24 --zero 1 --mbs 1
both --model gpt-oss-20b --batch 24 --mbs 1 --tp 1 --vp 1
spec 2 gb200-nvl72 'switch: mqm9790-ns2f, leaf_down: 16, leaf_up: 4'
both --model mixtral-8x7b --batch 144 --tp 2 --mbs 1 --vp 1 --zero 1
spec 12 h100-8gpu 'switch: mqm9790-ns2f, topology: torus, dims: [3, 4]'
both --model mixtral-8x7b --batch 96 --tp 2 --mbs 1 --vp 1 --zero 1 --recompute none
spec 6 h100-8gpu 'switch: mqm9790-ns2f, tiers: 3, leaf_down: 2, leaf_up: 2'
both --model qwen3-30b-a3b --batch 48 --tp 1 --mbs 1 --vp 1 --zero 1 --recompute full
both --model llama3-70b --batch 48 --tp 8 --mbs 1
