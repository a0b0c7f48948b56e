# Sheets with From and To, alone or with words behind; other columns are left alone.
printf 'name: lab\nservers: 16\nnetworks: {compute: {topology: rail, switch: mqm9790-ns2f}}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null
myriad export p2p d/design.myr | tail -n +2 | cut -d , -f 1,3,4,6 > rows
for header in 'From,From Port,To,To Port' 'From,Port,To,Port' 'FROM,HCA/Port,TO,Port' \
    'From Device,From Port,To,To Port' 'Source,Source Port,Destination,Destination Port' \
    'From,From Port,To Device,Port'; do
    (echo "$header"; cat rows) > sheet.csv
    myriad verify d/design.myr sheet.csv | head -n 1; echo "$header: exit ${PIPESTATUS[0]}"
done
# A word that says more beats a short one; a name beside both ends is another thing's.
(echo 'From,From Device,From Port,To,To Device,To Port,Name'
 awk -F, '{print "hall 1," $1 "," $2 ",hall 2," $3 "," $4 ",cable " NR}' rows) > halls.csv
myriad verify d/design.myr halls.csv | head -n 1
(echo 'From,Port,To,Port,Name'; awk -F, '{print $0 ",cable " NR}' rows) > named.csv
myriad verify d/design.myr named.csv | head -n 1
# From and To without ports are no cables; one end twice is not known.
printf 'From,To,Gbps\na,b,1\n' > flows.csv
myriad verify d/design.myr flows.csv 2>&1; echo "exit $?"
(echo 'From Device,From Port,From_Device,To Port'; cat rows) > twice.csv
myriad verify d/design.myr twice.csv --from p2p 2>&1; echo "exit $?"
# All tables of NetBox in one folder: those without cables are passed over, and counted.
myriad export netbox d/design.myr --out nb > /dev/null
myriad verify d/design.myr nb | sed -n -e 1p -e '/NetBox/p'
myriad verify d/design.myr nb --from netbox -o json | grep -e tables -e '"clean"'
# One that is named outright is refused, and so is a folder without a list of cables.
myriad verify d/design.myr nb/devices.csv 2>&1; echo "exit $?"
rm nb/cables.csv
myriad verify d/design.myr nb 2>&1; echo "exit $?"
# Other lists in a folder are nobody's.
mkdir other; cp flows.csv other
myriad verify d/design.myr other 2>&1; echo "exit $?"
# Names beside From and To are somebody else's.
(echo 'From,From Port,To,To Port,Name,Name'; awk -F, '{print $0 ",x,y"}' rows) > names.csv
myriad verify d/design.myr names.csv | head -n 1
(echo 'Name,Source,Port,Name,Destination,Port'
 awk -F, '{print "x," $1 "," $2 ",y," $3 "," $4}' rows) > names.csv
myriad verify d/design.myr names.csv | head -n 1
# What is passed over is named, by every verb; a list with ports of two ends is never passed over.
myriad export netbox d/design.myr --out nb > /dev/null
myriad verify orders d/design.myr nb | sed -n '/NetBox/,$p'
myriad bind d/design.myr nb | grep NetBox
myriad route found d/design.myr nb --permutation 1 | sed -n '/NetBox/,$p'
myriad bind d/design.myr nb -o json | sed -n '/truncated/,$p'
for header in 'Site,Rack,Name,Port,Remote Name,Remote Port' 'Device,Name,Type,Port,Remote Port' \
    'Site,Name,Status,Port,To,Port 2' 'Site,Name' 'Device,Name,Note'; do
    printf '%s\n1,2,3,4,5,6\n' "$header" > nb/list.csv
    myriad verify d/design.myr nb 2>&1 > /dev/null; echo "exit $?"
done
printf 'Name,Site,Status,Height (U)\nr1,s,active,42\n' > nb/list.csv
myriad verify d/design.myr nb | grep -c list.csv
