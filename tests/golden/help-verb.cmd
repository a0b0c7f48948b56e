myriad help plan
