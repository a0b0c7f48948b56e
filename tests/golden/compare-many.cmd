# As many designs as there are letters; and bills that lack the same, nearly the same, or nothing.
spec() {
    printf 'name: %s\nservers: %s\nserver: h100-8gpu\nsupplied: [servers]\n' "$1" "$2" > "$1.yaml"
    printf 'networks: {compute: {%s}}\nprices: {file: %s}\n' "$3" "$4" >> "$1.yaml"
}
printf 'part,price,currency\nmqm9790-ns2f,100000,CNY\n' > some.csv
printf 'part,price,currency\nsn5600,1000,USD\n' > other.csv
spec two 2 'switch: mqm9790-ns2f' some.csv
spec alike 2 'switch: mqm9790-ns2f' some.csv
spec three 3 'switch: mqm9790-ns2f' some.csv
spec ether 2 'switch: sn5600' some.csv
spec dollars 2 'switch: sn5600' other.csv
sed '/^prices/d' two.yaml > bare.yaml
sed 's/^prices.*/prices: cn-2024-05/' two.yaml > booked.yaml
words="--workload allreduce:1MB"
money() { sed -nE '/^(bill|capex|tco)|price/p'; }
for pair in 'two alike' 'two three' 'two ether' 'two booked' 'booked two' 'booked booked' \
    'two bare' 'bare bare' 'two dollars' 'dollars two'; do
    set -- $pair
    echo "== $1 $2"
    myriad compare $1.yaml $2.yaml $words 2>&1 | money
done
echo "== eight"
myriad compare two.yaml alike.yaml three.yaml ether.yaml booked.yaml bare.yaml dollars.yaml two.yaml \
    $words --lb ecmp --efficiency 990
echo "== four, wide"
COLUMNS=300 myriad compare two.yaml three.yaml ether.yaml booked.yaml $words -o wide |
    sed '/^How each/,$d'
