# What sources say of links in words: understood, not understood and told, or not said at all.
printf 'servers: 2\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
myriad export p2p d/design.myr --out p2p.csv > /dev/null
myriad export ibnetdiscover d/design.myr --out ib.txt > /dev/null
told() { echo "== $1"; shift; myriad verify d/design.myr "$@" > out; code=$?
    sed -n -e 1p -e '/^Degraded/,/^$/p' -e '/^Notes/,$p' out | head -n 8; echo "exit $code"; }
with() { (head -n 1 p2p.csv | sed "s/\$/,$1/"; tail -n +2 p2p.csv | sed "s/\$/,$2/") > list.csv
    told "$1: $2" list.csv; }
sed 's/4xNDR/4xZDR/' ib.txt > zdr.txt; told 4xZDR zdr.txt
for medium in OS2 'single mode' OM4 unobtainium n\\/a; do with Medium "$medium"; done
for fec in 'No FEC' 'fec off' RS maybe; do with FEC "$fec"; done
for lanes in 1 2 4 8; do with Speed,Width 400,$lanes; done
with Width 1
myriad export netbox d/design.myr --out nb > /dev/null
for status in failed decommissioning; do
    sed "s/,connected,/,$status,/" nb/cables.csv > cables.csv; told "status $status" cables.csv
done
with FEC,Medium maybe,unobtainium
myriad verify d/design.myr list.csv -o json | sed -n '/"unread_words"/,/^  \]/p'
