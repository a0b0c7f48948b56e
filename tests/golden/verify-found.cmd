# A small fabric, damaged in every way: what verify says, the sheets for the crews in whole, and what a
# second run makes of the state that the first one left.
printf 'name: few\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 4}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null 2>&1
myriad export p2p d/design.myr --out right.csv > /dev/null
# Two cables crossed at one end, one gone, one to a port that should be free.
awk -F, 'BEGIN{OFS=","} NR==2{a=$0; next} NR==3{split(a,x,","); t=x[6]; x[6]=$6; $6=t; s=x[1]; for(i=2;i<=NF;i++) s=s","x[i]; print s; print; next} NR==9{next} {print} END{print "leaf-p0-g0-r0,Switch,16/1,leaf-p0-g0-r2,Switch,16/1"}' right.csv > wrong.csv
# Two leaves that took each other's name.
sed 's/leaf-p0-g0-r0/LEAF/g; s/leaf-p0-g0-r1/leaf-p0-g0-r0/g; s/LEAF/leaf-p0-g0-r1/g' right.csv > swapped.csv
for list in right wrong swapped; do
  echo "== $list"; myriad verify d/design.myr $list.csv; echo "[$?]"
  myriad verify d/design.myr $list.csv --equivalent -o wide | head -n 60
done
myriad verify orders d/design.myr wrong.csv --crews 2 --out o; echo "[$?]"
cat o/orders.csv o/state.csv; sed 's/<svg.*<\/svg>/SVG/' o/orders.html | tail -n +2 | fold -w 4000 | head -n 120
cat o/orders.zh.csv 2>/dev/null; ls o; cksum o/*
cp o/state.csv before.csv
# One plug sits where another belongs, which sits where none does: the second moves after the first.
awk -F, 'BEGIN{OFS=","} NR==4{$6="2/2"} NR==5{$6="9/1"} {print}' right.csv > chain.csv
myriad verify orders d/design.myr chain.csv --out c | head -n 30; cat c/orders.csv; grep note c/orders.html
myriad verify orders d/design.myr right.csv --out o --state before.csv; echo "[$?]"; cat o/state.csv
myriad verify orders d/design.myr swapped.csv --out o --state before.csv | head -n 40; cat o/state.csv | head -n 12
myriad verify d/design.myr wrong.csv --list ports; myriad verify d/design.myr wrong.csv --partial
for bad in 's/missing/lost/' 's/wrong/lost/' '2s/,/;/g' '2s/[0-9][0-9]*/x/' '1s/^/x/'; do
  sed "$bad" before.csv > bad.csv; myriad verify orders d/design.myr wrong.csv --state bad.csv --out p > /dev/null; echo "[$?]"
done
