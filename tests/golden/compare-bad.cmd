# What cannot be compared is told before anything is planned, or with the design that it is about.
printf 'name: one\nservers: 2\nserver: h100-8gpu\nnetworks: {compute: {fabric: infiniband}}\n' > a.yaml
cat > groups.yaml <<'END'
name: groups
groups:
  - {name: train, servers: 2, server: h100-8gpu}
  - {name: infer, servers: 2, server: a100-8gpu, networks: [oob]}
networks: {compute: {fabric: infiniband}, oob: {}}
END
printf 'name: none\nservers: 2\nserver: h100-8gpu\nnetworks: {oob: {}}\n' > none.yaml
compare() { echo "== $*"; myriad compare --workload allreduce:1MB "$@" 2>&1 || echo "exit $?"; }
compare a.yaml
compare a.yaml a.yaml a.yaml a.yaml a.yaml a.yaml a.yaml a.yaml a.yaml
compare a.yaml a.yaml --lb fastest
compare a.yaml a.yaml a.yaml --lb spray --lb ecmp
compare a.yaml a.yaml --efficiency 900 --efficiency 900 --efficiency 900
for part in 0 1001 1.5 many; do
    compare a.yaml a.yaml --efficiency $part
done
compare a.yaml a.yaml --batch 8
compare a.yaml a.yaml --group train
compare a.yaml groups.yaml --group train
compare groups.yaml groups.yaml --group infer
compare groups.yaml groups.yaml --group other
compare a.yaml none.yaml
compare a.yaml nothing.yaml
compare a.yaml a.myr
compare a.yaml .myr
compare a.yaml a.yaml --workload never:1MB
compare a.yaml a.yaml --model nobody --batch 8
# The least and the most that an efficiency may be; a group is the first one that trains.
for part in 1 1000; do
    compare a.yaml a.yaml --efficiency $part -o csv | sed -n '1p;2p;/busbw/p'
done
compare groups.yaml groups.yaml | sed -n '/^What to know/,$p'
