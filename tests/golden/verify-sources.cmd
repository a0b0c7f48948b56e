# Sources of different views that say the same of a link tell one link, and the worse of both counts.
printf 'servers: 4\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
myriad export p2p d/design.myr --out p2p.csv > /dev/null
myriad export ibnetdiscover d/design.myr --out ib.txt > /dev/null
cut -d , -f 1,3,4,6 p2p.csv > bare.csv
told() { echo "== $1"; shift; myriad verify d/design.myr "$@" > out 2>&1; code=$?
    grep -e '^cluster' -e '^myriad' -e ' all ' -e 'Gb/s' -e ': errors' out; echo "exit $code"; }
told 'both ways' ib.txt p2p.csv
told 'the list first' p2p.csv ib.txt
told 'without types' ib.txt bare.csv
sed 's/"leaf-p0-\([01]\)"/"MF0;leaf-p0-\1:MQM9790\/U1"/' ib.txt > managed.txt
told 'switches under their managed names' managed.txt bare.csv
# The list tells of half of the hosts.
grep -v 'node-0000[01]' p2p.csv > half.csv
told 'half of it' ib.txt half.csv
# Names of the site's own, in both.
sed 's/node-0000\([0-9]\)-nic/gpu\1 mlx5_/' ib.txt > own.txt
sed 's/node-0000\([0-9]\),\([^,]*\),nic/gpu\1,\2,mlx5_/' p2p.csv > own.csv
told 'own names' own.txt own.csv
told 'own names, the list first' own.csv own.txt
# The slower and the worse of both; a row twice is one cable of its speed.
(head -n 1 p2p.csv | sed 's/$/,Speed,Errors/'; sed -n 2p p2p.csv | sed 's/$/,200,0/'
 sed -n 3p p2p.csv | sed 's/$/,400,7/') > worse.csv
told 'worse in the list' ib.txt worse.csv --partial
told 'worse in the list, which is first' worse.csv ib.txt --partial
(head -n 1 p2p.csv | sed 's/$/,Speed/'; tail -n +2 p2p.csv | sed 's/$/,400/'
 sed -n 2p p2p.csv | sed 's/$/,200/') > again.csv
told 'a row again, slower' again.csv
(cat again.csv | head -n 1; tail -n +2 p2p.csv | sed 's/$/,200/'; tail -n +2 p2p.csv | sed 's/$/,200/') > twice.csv
told 'all rows twice, slow' twice.csv
# What contradicts is refused still.
sed '2s/nic0/nic1/; 3s/nic1/nic0/' p2p.csv > other.csv
told 'another neighbour' ib.txt other.csv
