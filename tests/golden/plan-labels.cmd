# Labels to print, of all cables and of some, with and without a room; reports in two languages, with a
# date, a revision and the phase after this one. Of one label each byte, of pages a digest.
printf 'name: few\nservers: 2\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: 2, leaf_up: 2}\n  oob: {}\n' > s.yaml
(cat s.yaml; echo 'room: {rows: 2, columns: 3, rack_kw: 22}') > r.yaml
sed 's/servers: 2/servers: 3/' s.yaml > next.yaml
look() { echo "== $*"; myriad plan "$@" --out d > said.txt 2>&1; echo "[$?]"; grep -E '^(myriad|hint)' said.txt; (cd d 2> /dev/null && md5sum labels.html report.html bom.xlsx 2> /dev/null; grep -c 'class="l"' labels.html 2> /dev/null); rm -rf d.last; mv d d.last 2> /dev/null; }
for where in all compute oob node/00001 leaf/p0-g0-r3 A1 B2 storage node/9 nothing ''; do
  look s.yaml --labels "$where"
  look r.yaml --labels "$where"
done
look r.yaml --labels node/00000
sed 's/<svg.*<\/svg>/SVG/; s/<style>.*<\/style>//' d.last/labels.html | head -n 24
sed -n '/<svg/{p;q}' d.last/labels.html
for lang in en zh; do
  look r.yaml --lang $lang --date 2026-11-17 --revision B2
  look s.yaml --lang $lang --next next.yaml
  look s.yaml --lang $lang --labels compute
done
look s.yaml --date 'next week'
look s.yaml --next s.yaml
