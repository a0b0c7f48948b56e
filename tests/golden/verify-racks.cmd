# One rack has one name: in the plan, in verify, in orders and in NetBox.
myriad plan examples/h100-128-room.yaml --out room > /dev/null
myriad export p2p room/design.myr | sed 6,8d > built.csv
myriad verify room/design.myr built.csv | grep rack
myriad verify room/design.myr built.csv -o json | grep -A 2 '"rack":'
myriad verify orders room/design.myr built.csv -o csv | cut -d , -f 1-8
myriad export netbox room/design.myr --out nb > /dev/null
grep -e ',B10,' -e '^B10,' nb/racks.csv room/racks.csv | head -n 4
grep -e ',B10$' nb/devices.csv | head -n 3
# Every rack of a device is a row of the table of racks.
tail -n +2 nb/devices.csv | rev | cut -d , -f 1 | rev | sort -u > used
tail -n +2 nb/racks.csv | cut -d , -f 2 | sort -u > known
comm -23 used known | wc -l
