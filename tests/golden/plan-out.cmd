myriad plan examples/h100-64.yaml --out here/and/there >table
ls here/and/there
head -n 3 here/and/there/{bom,cables,labels}.csv
