myriad man
myriad man --list
myriad man twin
myriad man completion
myriad man twni; echo $?
