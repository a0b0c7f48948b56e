"""What programs of users call of Myriad: myriad.ccl, collective calls that end."""
