# More of everything than a page names: pods, racks, absent devices, ports that are not read, hosts
# that deviate; and orders over three visits, which know since when each fault is there.
part() { sed -n "/^$1/,/^\$/p"; }
printf 'name: many\nservers: 120\nserver: generic-1gpu\nnetworks:\n  compute: {topology: clos, switch: mqm9790-ns2f, tiers: 3, leaf_down: 4, leaf_up: 4, pod_leaves: 2}\nroom: {rows: 6, columns: 8, rack_kw: 22}\n' > m.yaml
myriad plan m.yaml --out m > /dev/null
myriad export p2p m/design.myr > all.csv
echo "== every ninth cable is gone"
awk 'NR == 1 || NR % 9' all.csv > few.csv; myriad verify m/design.myr few.csv | sed '/^Steps/,$d'
echo "== cables of the last two pods alone"
awk 'NR == 1 || !/p1[34]-/ || NR % 5' all.csv > last.csv; myriad verify m/design.myr last.csv | part Seen
echo "== nothing of one pod is told"
grep -v 'p3-' all.csv > pod.csv; myriad verify m/design.myr pod.csv | part Seen; myriad verify m/design.myr pod.csv --partial | head -n 3
printf 'name: hosts\nservers: 32\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f}\n' > h.yaml
myriad plan h.yaml --out h > /dev/null
myriad export p2p h/design.myr | sed 's/,nic\([0-9]\)/,mlx5_\1/' > hosts.csv
for last in 2 7 8; do
  echo "== adapters of nodes 0 to $last the other way round"
  awk -F, -v last="$last" 'BEGIN { OFS = "," } $1 ~ /node-0000[0-9]$/ && substr($1, 10) <= last && $3 ~ /mlx5_[01]/ { $3 = $3 == "mlx5_0" ? "mlx5_1" : "mlx5_0" } { print }' hosts.csv > turned.csv
  myriad verify h/design.myr turned.csv | part Notes
done
for last in 27 28; do
  echo "== adapters of nodes 0 to $last of 32 the other way round: nine in ten decide"
  awk -F, -v last="$last" 'BEGIN { OFS = "," } $1 ~ /^node-/ && substr($1, 6) + 0 <= last && $3 ~ /mlx5_[01]/ { $3 = $3 == "mlx5_0" ? "mlx5_1" : "mlx5_0" } { print }' hosts.csv > turned.csv
  myriad verify h/design.myr turned.csv | part Notes
done
for every in 9 40 43; do
  echo "== ports of leaves under names that nobody knows, one in $every"
  awk -F, -v every="$every" 'BEGIN { OFS = "," } NR % every == 2 { $6 = "eth" NR } { print }' hosts.csv > unread.csv
  myriad verify h/design.myr unread.csv | part 'Not read'
done
myriad export ibnetdiscover m/design.myr > all.topo
echo "== servers with one port are told by its number"; myriad verify m/design.myr all.topo | sed -n '1p;/^  all/p'
for slow in 3 100 101 360; do
  echo "== $slow links at half their speed"
  awk -v slow="$slow" '/4xNDR/ && (slow == 360 || /"spine-p/) && seen++ < 2 * slow && (slow == 360 || seen <= slow) { sub("4xNDR", "4xHDR") } { print }' all.topo > slow.topo
  myriad verify m/design.myr slow.topo | sed -n '/^Seen/,/^  all/p;/^Degraded/,/^$/p;/^Notes/,/^$/p' | sed '6,95d'
done
for gone in 100 101; do
  echo "== $gone cables between switches are gone"
  awk -v gone="$gone" 'NR >= 122 && NR % 2 == 0 && left++ < gone { next } { print }' all.csv > gone.csv
  myriad verify m/design.myr gone.csv | sed -n '/^Repair/,/^$/p;/^ *9[89]  /p;/^ *10[01]  /p;/^and /p'
done
for mended in 40 41; do
  awk -v gone="$mended" 'NR >= 122 && NR % 2 == 0 && left++ < gone { next } { print }' all.csv > gone.csv
  rm -rf orders; myriad verify orders m/design.myr gone.csv --out orders > /dev/null
  echo "== $mended are mended"; myriad verify orders m/design.myr all.csv --out orders | part Mended | tail -n 4
done
rm -rf orders
echo "== three visits: two cables are exchanged, one is gone, one too many; another is gone; two mended"
loose='leaf-p0-0,Switch,20/1,leaf-p1-0,Switch,21/1'
awk -F, -v loose="$loose" 'BEGIN { OFS = "," } NR == FNR { end[FNR] = $4 "," $5 "," $6; next } FNR == 130 { print $1, $2, $3, end[145]; next } FNR == 145 { print $1, $2, $3, end[130]; next } FNR == 136 { next } { print } END { print loose }' all.csv all.csv > one.csv
sed '150d' one.csv > two.csv
{ grep -vxF "$loose" two.csv; sed -n 136p all.csv; } > three.csv
for visit in one two three; do
  myriad verify orders m/design.myr $visit.csv --out orders --crews 2 -o wide | sed '/^Files/,$d'
  cat orders/orders.csv
done
