# A name with quotes; devices, links and FIFOs stay what they are.
printf 'name: a "x" b\nservers: 4\n' > s.yaml
myriad plan s.yaml --out d > plan.txt
myriad export dot d/design.myr | head -n 1
ln -s real.csv link.csv; mkfifo fifo
myriad export p2p d/design.myr --out link.csv > note.txt
cat fifo > read.csv &
myriad export p2p d/design.myr --out fifo > note.txt
wait
cmp real.csv read.csv && test -L link.csv && test -p fifo && echo same
myriad export p2p d/design.myr --out /proc/x; echo $?
