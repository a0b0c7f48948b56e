echo 'servers: 4' | myriad plan -
