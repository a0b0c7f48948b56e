# No part has the word: the answer is no.
myriad catalog nothing-has-this-name; echo $?
myriad catalog --kind switch nothing-has-this-name; echo $?
myriad catalog nothing-has-this-name -o csv; echo $?
