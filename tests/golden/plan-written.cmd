# Of what the report says it is: a spec in another folder, standard input, a number of GPUs; with
# prices, parts and a phase after it. What an optimum writes, and that none writes nothing.
mkdir in
printf 'name: a\nservers: 2\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f}\n' > 'in/a spec.yaml'
sed 's/servers: 2/servers: 4/' 'in/a spec.yaml' > in/next.yaml
printf 'part,price,currency,date\nh100-8gpu,1000,CNY,2026-01-01\n' > in/p.csv
printf 'cable:\n  c1: {kind: dac, length_m: 1}\n' > in/none.yaml
printf '{}\n' > in/own.yaml
printf '{}\n' > 'in/own two.yaml'
say() {
  rm -rf o; echo "== $*"; myriad plan "$@" --out o > said.txt 2> err.txt; echo "[$?] $(head -n 1 err.txt)"
  [ -d o ] && sed -nE 's/.*<code>(.*myriad explain plan .*)<\/code>.*/\1/; T; s/<[^>]*>//g; p' o/report.html
  [ -d o ] && grep -o 'SHA-256 of the spec: [0-9a-f]*' o/report.html
  tail -n 1 said.txt
}
say 'in/a spec.yaml'
say 'in/a spec.yaml' --prices in/p.csv
say 'in/a spec.yaml' --catalog in/own.yaml
say 'in/a spec.yaml' --catalog in/own.yaml --catalog 'in/own two.yaml' --next in/next.yaml --prices in/p.csv
say - --prices in/p.csv --catalog in/own.yaml < 'in/a spec.yaml'
say - --prices in/p.csv --catalog in/own.yaml --next in/next.yaml < 'in/a spec.yaml'
say --gpus 16
say --gpus 16 --next in/next.yaml
say --gpus 16 --prices in/p.csv
say --server h100
say --gpus 16 --server nothing
say 'in/a spec.yaml' --catalog in/none.yaml
rm -rf o
cat > open.yaml <<'S'
name: open
servers: 16
server: h100-8gpu
supplied: [servers]
networks:
  compute: {switch: mqm9790-ns2f}
prices: cn-2024-05
optimise:
  objective: capex
  choices: {topology: [rail, clos], oversubscription: [1, 2]}
S
(cat open.yaml; printf '  constraints: {power_kw_max: 1}\n') > never.yaml
for spec in open never; do
  myriad plan optimise $spec.yaml --out o/$spec | head -n 12; echo "[${PIPESTATUS[0]}]"
done
myriad plan optimise open.yaml --out open.yaml/x 2>&1; echo "[$?]"
myriad plan optimise 'in/a spec.yaml' --out o/a 2>&1; echo "[$?]"
find o | sort
myriad design o/open/design.myr | head -n 4
