# Every copy starts two more. The shell itself becomes a sleep, so that the run continues until it is ended from outside.
if [ "$PWD" != /workspace ]; then
  echo 'This is a fork bomb: it starts only in the workspace of a cell.' >&2
  exit 1
fi
bomb() { bomb | bomb & }
bomb
exec sleep 60
