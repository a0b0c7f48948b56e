# A tariff in a currency that nobody has compared with the bill's, and a bill without any price: no
# cost of the years, and why.
printf 'servers: 4\nnetworks: {compute: {topology: rail}}\n' > none.yaml
(cat none.yaml; printf 'prices: {book: cn-2024-05, parts: {h100-8gpu: 2000000}}\n') > cny.yaml
(cat cny.yaml; printf 'facility: {energy: {tariff_per_kwh: 0.12, currency: EUR}}\n') > eur.yaml
(cat cny.yaml; printf 'facility: {energy: {tariff_per_kwh: 0.12, currency: eur}}\n') > small.yaml
for spec in none cny eur; do
    myriad explain plan $spec.yaml power.energy.cost_of_years
done
myriad explain plan eur.yaml power.energy.cost_of_years -o json | grep -e '"value"' -e '"inputs"'
myriad explain plan eur.yaml room 2>&1 || echo "exit $?"
myriad plan small.yaml 2>&1 || echo "exit $?"
for other in cny none; do
    myriad compare eur.yaml $other.yaml --workload allreduce:1MB |
        grep -e '^bill' -e '^[a-z_]* *not compared' -A1
done
for objective in cost_of_years capex; do
    (cat eur.yaml; echo "optimise: {objective: $objective, choices: {oversubscription: [1, 2]}}") |
        myriad plan optimise - 2>&1 | sed '/^more/,$d' || true
done
