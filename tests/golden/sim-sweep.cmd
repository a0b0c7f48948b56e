# Every combination of a file's settings: rows, a plot, parts of it, what fails, and going on.
cat > s.yaml <<'END'
topology: fat-tree:k=4,gbps=100,delay=1us
workload: "{kind}:{size}"
knobs:
  kind: [permutation, alltoall]
  size: [1MB, 4MB]
lb: [ecmp, spray]
seed: 3
END
for o in table wide csv; do echo "== $o"; myriad sim sweep s.yaml --workers 1 -o $o; done
myriad sim sweep s.yaml --workers 1 --out all.csv --plot p.html > /dev/null
cat all.csv
sed '/<style>/d;/^@media/d' p.html
# Parts, and a run that was killed while it wrote: the same result.
for part in 1/2 2/2; do myriad sim sweep s.yaml --workers 1 --shard $part --out part.csv -o csv; ls; done
head -c 900 all.csv.part-1-of-1 > cut.csv.part-1-of-1
myriad sim sweep s.yaml --workers 1 --out cut.csv; echo "exit $?"; cmp all.csv cut.csv
myriad sim sweep data/sim/holes.yaml --workers 1 -o csv; echo "exit $?"
