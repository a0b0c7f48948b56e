myriad job list --server http://127.0.0.1:1
myriad job list --server ftp://head
myriad job list --server http://192.0.2.1:4680
myriad job lst
myriad job
myriad submit
myriad submit no-such-file.yaml
myriad token new
myriad queue --token-file no-such-file
myriad node list --dir no-such-folder
myriad restore no-such-folder new
