# What a long night of cabling does to a point-to-point list: a bundle of six cables shifted by one
# port, two plugs exchanged, one cable forgotten. For `myriad verify`, which finds them all:
#
#     awk -f examples/miswire.awk planned.csv > built.csv
BEGIN { FS = OFS = "," }
{ row[NR] = $0 }
$4 == "leaf-p3-g0-r5" && $2 == "Host" && shifted < 6 { at[shifted++] = NR; port[NR] = $6 }
END {
    for (i = 0; i < shifted; i++) {
        sub(/[^,]*$/, port[at[(i + 1) % shifted]], row[at[i]])
    }
    split(row[101], a)
    split(row[9001], b)
    row[101] = a[1] OFS a[2] OFS a[3] OFS b[4] OFS b[5] OFS b[6]
    row[9001] = b[1] OFS b[2] OFS b[3] OFS a[4] OFS a[5] OFS a[6]
    for (i = 1; i <= NR; i++) {
        if (i != 20001) {
            print row[i]
        }
    }
}
