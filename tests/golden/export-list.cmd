myriad export --list
