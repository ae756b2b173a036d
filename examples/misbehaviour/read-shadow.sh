# Looks for private data of the host: its password hashes, the files named as arguments, its environment.
# Prints what it finds, and exits with 1 if it finds anything.
got=0
for path in /etc/shadow /proc/1/environ /proc/kcore "$@"; do
  if head -c 64 "$path" > /tmp/loot 2> /tmp/error && [ -s /tmp/loot ]; then
    echo "READ $path"
    got=1
  else
    echo "nothing: $(tail -n 1 /tmp/error)"
  fi
done

if env | grep -q "^$SECRET_NAME="; then
  echo "READ \$$SECRET_NAME"
  got=1
fi
exit "$got"
