# Hosts and NICs with names of their own: as planned, with two NICs' cables exchanged, as a list.
myriad plan examples/h100-64.yaml --out d > plan.txt
myriad export ibnetdiscover d/design.myr |
    sed -E 's/024d59520/b83fd2030/g; s/node-([0-9]{5})-nic([0-9])/gpu\1 mlx5_\2/g' > right.txt
sed -E 's/"gpu00000 mlx5_0"/"X"/; s/"gpu00039 mlx5_3"/"gpu00000 mlx5_0"/; s/"X"/"gpu00039 mlx5_3"/' \
    right.txt > wrong.txt
myriad verify d/design.myr right.txt; echo $?
myriad verify d/design.myr wrong.txt --equivalent; echo $?
myriad export p2p d/design.myr | sed -E 's/node-([0-9]{5}),Host,nic([0-9])/gpu\1,Host,mlx5_\2/' > p2p.csv
myriad verify d/design.myr p2p.csv; echo $?
myriad bind d/design.myr wrong.txt --out binding.yaml; echo $?
sed -n 1,8p binding.yaml
myriad export slurm d/design.myr --binding binding.yaml
