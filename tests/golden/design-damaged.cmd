echo 'this is no design' > design.myr
myriad design design.myr
