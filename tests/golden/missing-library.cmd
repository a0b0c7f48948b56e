mkdir lib && : >lib/libmicrohttpd.so.12
LD_LIBRARY_PATH=lib myriad doctor -o csv >found
said=$?
grep libraries found
exit $said
