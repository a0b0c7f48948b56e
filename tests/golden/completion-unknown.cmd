myriad completion tcsh
