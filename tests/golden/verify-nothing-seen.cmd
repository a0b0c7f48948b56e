# A list in which nothing of the plan stands proves nothing; names with blanks can be pasted.
myriad plan examples/h100-64.yaml --out "out dir" >plan.txt
tail -1 plan.txt
myriad export p2p "out dir/design.myr" --out p2p.csv >/dev/null
head -1 p2p.csv >header.csv
myriad verify "out dir/design.myr" --from p2p header.csv
