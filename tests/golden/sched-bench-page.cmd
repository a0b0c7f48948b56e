# What a measurement looks like, whatever it measures: times without their digits, all else as it is.
plain() { sed -E 's/[0-9][0-9,.]*/#/g; s/ +/ /g'; }
printf 'place,1,2\nplace,2,4\nmeasure\nrelease,1\nplace,3,1\nplace,4,24\n' > events.csv
printf 'measure\nplace,7,20\nrelease,7\n' > one.csv
for words in '' '--seed 7' '--events events.csv' '--events one.csv'; do
  echo "== $words"
  myriad sched bench --nodes 24 --leaf-nodes 8 $words | plain
  myriad sched bench --nodes 24 --leaf-nodes 8 $words -o csv | cut -d, -f 1-5
done
