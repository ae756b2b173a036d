# Summarizes the log of a web server with tools that every machine has.
set -euo pipefail

printf '%s requests from %s addresses\n' "$(wc -l < access.log)" "$(cut -d' ' -f1 access.log | sort -u | wc -l)"

echo 'by status:'
awk '{ print $9 }' access.log | sort | uniq -c | sort -rn

echo 'paths that failed on our side:'
awk '$9 >= 500 { print $7 }' access.log | sort | uniq -c | sort -rn | head -n 5

echo 'clients that probe for weaknesses:'
awk '$9 == 403 || $9 == 404 { print $1 }' access.log | sort | uniq -c | sort -rn | head -n 3

echo 'busiest hours:'
cut -d'[' -f2 access.log | cut -d: -f2 | sort | uniq -c | sort -rn | head -n 3
