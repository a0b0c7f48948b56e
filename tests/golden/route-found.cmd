# A small fabric as it was found, damaged in several ways: what traffic loses, and which piece of the
# repair wins how much of it back, in every form.
printf 'name: few\nservers: 4\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 4}\n' > s.yaml
myriad plan s.yaml --out d > /dev/null 2>&1
myriad export p2p d/design.myr --out right.csv > /dev/null
awk -F, 'BEGIN{OFS=","} NR==2{a=$0; next} NR==3{split(a,x,","); t=x[6]; x[6]=$6; $6=t; s=x[1]; for(i=2;i<=NF;i++) s=s","x[i]; print s; print; next} NR==9{next} {print}' right.csv > wrong.csv
sed '5d; 36d; 37d' right.csv > lost.csv
for list in right wrong lost; do
  for traffic in "--permutation 1" "--layout tp=8 --pattern all-to-all --axis all"; do
    echo "== $list $traffic"
    COLUMNS=200 myriad route found d/design.myr $list.csv $traffic -o wide 2>&1; echo "[$?]"
    myriad route found d/design.myr $list.csv $traffic -o csv 2>&1
    myriad route found d/design.myr $list.csv $traffic -o json 2>&1 | tr -d ' \n'; echo
  done
done
# The design is named once.
myriad route --permutation 1 2>&1; echo "[$?]"
myriad route d/design.myr --design d/design.myr --permutation 1 2>&1; echo "[$?]"
myriad route --design d/design.myr --permutation 1 2>&1 | head -n 3
