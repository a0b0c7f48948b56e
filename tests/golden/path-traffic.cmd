# Which flows they are is said; a list without links between switches too; a layout may be a file.
myriad plan examples/h100-64.yaml --out d > plan.txt
myriad path d/design.myr
printf 'from,to\n0,8\n' > flows.csv
myriad path d/design.myr --flows flows.csv
printf 'layout: {tp: 8, dp: 4}\n' > layout.yaml
myriad path d/design.myr --layout layout.yaml --nodes 0-3
