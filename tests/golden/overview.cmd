myriad | sed -n '1,/catalog/p'
