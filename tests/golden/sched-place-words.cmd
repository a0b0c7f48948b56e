# A table whose words are not understood would leave all of its nodes free.
myriad plan examples/h100-64.yaml --out d >/dev/null 2>&1
for state in 'node,sate\n0,down\n' 'node,gpuz\n0,1\n' 'node,job,gpus\n0,,4\n' 'node,pinned\n0,maybe\n' \
    'node,job,weather\n0,a,fine\n' 'node,job,pinned\n0,,yes\n'; do
    printf "$state" > state.csv
    myriad sched place --design d/design.myr --nodes 1 --state state.csv; echo "exit $?"
done
