# A drawing would be written over what is read or written beside it: each of them, by each name.
printf 'submit_time,duration,gpus\n0,3600,8\n' > two.csv
mkdir folder
for chart in wait-by-size utilisation span fragmentation; do
  cp two.csv folder/$chart.svg
  echo "$chart"
  myriad sched replay folder/$chart.svg --nodes 1 --plots folder 2>&1
  for option in design tenants schedule report; do
    myriad sched replay two.csv --plots folder --$option ./folder/$chart.svg 2>&1
  done
  cmp two.csv folder/$chart.svg && rm folder/$chart.svg
done
myriad sched replay two.csv --nodes 1 --plots folder --schedule folder/waits.svg > said.txt 2>&1
echo $? && ls folder
