# A network of access and aggregation switches says these, on the page, in the tree and in a report.
printf 'name: lab-16\nservers: 16\nnetworks: {compute: {topology: rail, switch: mqm9790-ns2f}, oob: }\n' > s.yaml
myriad plan s.yaml --out s > /dev/null
run() { myriad sim --design s/design.myr --net oob --workload permutation:1MB "$@"; }
run --report r.html | grep -A1 -E '^(fabric|lower bound)'
run -o json | grep -A9 '"fabric"'
grep -o '[0-9]* access, [0-9]* aggregation switches' r.html
