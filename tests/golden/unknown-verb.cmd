myriad plann examples/h100-64.yaml
