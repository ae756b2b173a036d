/** The usual tools of a machine, in typical shell scripts. */
import type { CompatibilityProgram } from './program.ts'

export const shellPrograms: readonly CompatibilityProgram[] = [
  {
    title: 'bash: pipelines, process substitution, here documents, arrays, arithmetic',
    code: `
set -euo pipefail
diff <(seq 1 3) <(seq 1 4) || echo "differs: $?"
paste -d: <(printf 'a\\nb\\n') <(printf '1\\n2\\n')
declare -A ages=([ann]=30 [bob]=40)
echo "\${ages[ann]} $((ages[bob] * 2)) \${#ages[@]}"
cat <<END | tr a-z A-Z
here: $(printf '%03d' 7)
END
seq 100 | tee >(wc -l > count.txt) | tail -1
while [ ! -s count.txt ]; do sleep 0.01; done
tr -d ' ' < count.txt
echo "\${PIPESTATUS[*]}"
mapfile -t lines < <(printf 'x y\\nz\\n'); echo "\${#lines[@]} \${lines[0]}"`,
    prints: '3a4\n> 4\ndiffers: 1\na:1\nb:2\n30 80 2\nHERE: 007\n100\n100\n0\n2 x y\n',
  },
  {
    title: 'bash: background jobs, wait, traps, signals, timeout, subshells',
    code: `
trap 'echo left' EXIT
trap 'echo caught' USR1
kill -USR1 $$
(exit 3) & first=$!
sleep 60 & second=$!
until grep -q sleep /proc/$second/comm; do :; done
wait $first; echo "first: $?"
kill $second; wait $second 2> errors.txt; echo "second: $?"
timeout 0.1 sleep 60; echo "timeout: $?"
coproc cat; echo through >&"\${COPROC[1]}"; read -r line <&"\${COPROC[0]}"; echo "$line"
jobs -r | wc -l | tr -d ' '
setsid sh -c 'echo own session'
nohup sh -c 'echo no hangup' 2> errors.txt`,
    prints: 'caught\nfirst: 3\nsecond: 143\ntimeout: 124\nthrough\n1\nown session\nno hangup\nleft\n',
  },
  {
    title: 'find, xargs, sort, uniq, cut, comm, join, split, sed, awk, grep',
    code: `
mkdir -p tree/{a,b}/c && for i in $(seq 20); do echo "line $i" > "tree/a/c/file $i.txt"; done
find tree -name '*.txt' -print0 | xargs -0 -n 5 -P 4 cat | wc -l | tr -d ' '
find tree -type d -empty -delete; find tree -type d | sort | paste -sd' '
find tree -name '*1.txt' -newer tree -o -size -1k -name '*2.txt' -exec basename {} \\; | sort | head -1
printf 'b 2\\na 1\\nb 3\\n' | sort -k1,1 -k2,2nr | awk '{sum[$1] += $2} END {for (k in sum) print k, sum[k]}' | sort
printf 'one two\\n' | sed -E 's/(\\w+) (\\w+)/\\2 \\1/; y/o/0/'
printf 'x\\nx\\ny\\n' | uniq -c | awk '{print $1 $2}' | paste -sd,
printf 'apple\\nbanana\\n' | grep -nE '(an){2}'
seq 10 | split -l 4 - part. && ls part.* | wc -l | tr -d ' '
sed -i 's/line/LINE/' 'tree/a/c/file 1.txt' && cat 'tree/a/c/file 1.txt'
comm -12 <(seq 1 5) <(seq 4 8) | paste -sd' '`,
    prints: '20\ntree tree/a tree/a/c\na 1\nb 5\ntw0 0ne\n2x,1y\n2:banana\n3\nLINE 1\n4 5\n',
  },
  {
    title: 'tar, gzip, xz, checksums, base64, dd, truncate, install, stat, touch, ln, mktemp',
    needs: ['xz'],
    code: `
set -e
mkdir -p in/sub && seq 1000 > in/sub/numbers && ln -s sub/numbers in/link && chmod 750 in/sub/numbers
tar czf a.tar.gz in && tar cJf a.tar.xz in && mkdir out && tar xzf a.tar.gz -C out && tar tJf a.tar.xz | sort | tail -1
cmp in/sub/numbers out/in/sub/numbers && stat -c '%a %s' out/in/sub/numbers && readlink out/in/link
sha256sum < in/sub/numbers | cut -c1-16
gzip -9 < in/sub/numbers | gunzip | md5sum | cut -c1-8
echo text | base64 | base64 -d
dd if=/dev/zero of=zeros bs=1M count=4 status=none && truncate -s 5M zeros && stat -c %s zeros
touch -d '2020-01-02 03:04:05 UTC' zeros && date -u -r zeros +%FT%T
scratch=$(mktemp -d) && install -m 700 zeros "$scratch/copy" && stat -c %a "$scratch/copy" && rm -r "$scratch"`,
    prints: [
      'in/sub/numbers',
      '750 3893',
      'sub/numbers',
      '67d4ff71d43921d5',
      '53d02512',
      'text',
      '5242880',
      '2020-01-02T03:04:05',
      '700\n',
    ].join('\n'),
  },
  {
    title: 'C: gcc and make build a program with a library, which runs',
    needs: ['gcc', 'make'],
    files: {
      'main.c':
        '#include <pthread.h>\n#include <stdio.h>\n#include <math.h>\nint twice(int);\nstatic void *work(void *given) { *(int *)given = twice(21); return 0; }\nint main(void) { pthread_t thread; int result = 0; pthread_create(&thread, 0, work, &result); pthread_join(thread, 0); printf("%d %.0f\\n", result, sqrt(16.0)); return 0; }\n',
      'twice.c': 'int twice(int number) { return 2 * number; }\n',
      Makefile:
        'main: main.o libtwice.so\n\tgcc -o $@ main.o -L. -ltwice -Wl,-rpath,. -lm -pthread\nlibtwice.so: twice.c\n\tgcc -shared -fPIC -o $@ $<\nmain.o: main.c\n\tgcc -O2 -Wall -c $<\n',
    },
    code: `make -s -j2 && ./main && make -q && echo current && echo 'int main(){return 7;}' | gcc -x c -static - -o seven; ./seven; echo $?`,
    prints: '42 4\ncurrent\n7\n',
  },
  {
    title: 'git: init, commit, branch, merge, log, diff, stash, clone of a folder',
    needs: ['git'],
    code: `
set -e
git init -q -b main repo && cd repo
git config user.name Guest && git config user.email guest@example.com
echo one > file && git add . && git commit -qm first
git switch -qc side && echo two >> file && git commit -qam second
git switch -q main && echo other > other && git add . && git commit -qm third
git merge -q --no-edit side && git log --format=%s --topo-order | sort | paste -sd' '
echo dirty >> file && git stash -q && git status --short | wc -l | tr -d ' ' && git stash pop -q && git diff --stat | tail -1
git tag v1 && git clone -q . ../copy && git -C ../copy log --oneline | wc -l | tr -d ' '
git gc -q && git fsck --no-progress --no-dangling && git blame -s file | wc -l | tr -d ' '`,
    prints: "Merge branch 'side' first second third\n0\n 1 file changed, 1 insertion(+)\n4\n3\n",
  },
  {
    title: 'sqlite3 on a file',
    needs: ['sqlite3'],
    code: `sqlite3 data.db "create table t(a); insert into t values (1),(2),(39);" && sqlite3 -json data.db 'select sum(a) as sum from t' && sqlite3 data.db .dump | grep -c INSERT`,
    prints: '[{"sum":42}]\n3\n',
  },
  {
    title: 'perl: regular expressions, a child, a socket pair, in-place editing',
    needs: ['perl'],
    code: `
printf 'a=1\\nb=2\\n' > file && perl -pi -e 's/(\\w)=(\\d)/$2=$1/' file && paste -sd' ' file
perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0); if (!fork) { syswrite $a, "from the child\\n"; exit 4 } sysread $b, $_, 99; print; wait; print $? >> 8, "\\n"'
perl -MDigest::SHA=sha1_hex -MJSON::PP -e 'print JSON::PP->new->canonical->encode({sha => substr(sha1_hex("abc"), 0, 6)}), "\\n"'`,
    prints: '1=a 2=b\nfrom the child\n4\n{"sha":"a9993e"}\n',
  },
  {
    title: 'python3: a virtual environment without pip, its interpreter, a zip application',
    needs: ['python3'],
    code: `
set -e
python3 -m venv --without-pip environment && . environment/bin/activate
python -c 'import sys; print(sys.prefix != sys.base_prefix, sys.prefix.endswith("environment"))'
mkdir app && echo 'print("zipped")' > app/__main__.py && python -m zipapp app && python app.pyz
echo '{"b": 1, "a": [2]}' | python -m json.tool --compact --sort-keys`,
    prints: 'True True\nzipped\n{"a":[2],"b":1}\n',
  },
  {
    title: 'a web server fetched from inside: python3 -m http.server and curl',
    needs: ['python3', 'curl'],
    code: `
echo served > page.txt
python3 -u -m http.server 0 --bind 127.0.0.1 > log.txt 2>&1 & server=$!
while ! grep -q 'port [0-9]' log.txt; do sleep 0.02; done
port=$(sed -nE 's/.*port ([0-9]+).*/\\1/p' log.txt)
curl -s "http://127.0.0.1:$port/page.txt"; curl -s -o missing -w '%{http_code}\\n' "http://localhost:$port/none"
kill $server; wait $server 2> /dev/null; bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2> errors.txt || echo refused`,
    prints: 'served\n404\nrefused\n',
  },
  {
    title: 'a terminal of its own: script, stty, tty',
    needs: ['script'],
    code: `
script -qec 'tty | sed s/[0-9]*$/N/; stty size > /dev/null && echo has a size; [ -t 0 ] && echo is a terminal' /dev/null | tr -d '\\r'`,
    prints: '/dev/pts/N\nhas a size\nis a terminal\n',
  },
  {
    title: 'the controlling terminal, /dev/tty',
    needs: ['script'],
    code: `
script -qec 'echo to the terminal > /dev/tty' /dev/null | tr -d '\\r'
(exec 3< /dev/tty) 2> errors.txt || sed -E 's/.*: //' errors.txt`,
    prints: 'to the terminal\nNo such device or address\n',
  },
  {
    title: 'who and where: id, whoami, hostname, getent, uname, nproc, locale, date',
    code: `
[ "$(nproc)" -gt 0 ] && uname -s && locale charmap && date -d @0 -u +%F && TZ=Asia/Tokyo date -d @0 +%H
getent hosts localhost > /dev/null && getent passwd root | cut -d: -f1 && getent services https | awk '{print $2}'
[ "$(id -un 2> /dev/null)" = guest ] && echo guest || echo other`,
    prints: 'Linux\nUTF-8\n1970-01-01\n09\nroot\n443/tcp\nother\n',
    differs: [
      {
        layer: 'namespaces',
        prints: 'Linux\nUTF-8\n1970-01-01\n09\nroot\n443/tcp\nguest\n',
        reason: 'A guest is user 1000 (in a warm run up to 1031), called `guest`, whoever it is outside.',
        instead: 'Nothing is needed; `id`, `whoami` and `~` agree with each other.',
      },
    ],
  },
  {
    title: 'a process that asks about itself: /proc, ulimit',
    code: `
sh -c 'cat /proc/$$/comm; readlink /proc/$$/exe > /dev/null && echo exe; ls /proc/self/fd/0 > /dev/null && echo descriptors; grep -c ^processor /proc/cpuinfo > /dev/null && echo processors; head -1 /proc/meminfo | cut -d: -f1'
ulimit -c 0 && ulimit -n 64 && ulimit -n`,
    prints: 'sh\nexe\ndescriptors\nprocessors\nMemTotal\n64\n',
  },
  {
    title: 'a debugger: gdb stops a program at a function',
    needs: ['gdb', 'gcc'],
    code: `echo 'int main(void) { return 0; }' | gcc -g -x c - -o program && gdb -q -batch -ex 'break main' -ex run ./program 2>&1 | grep -oE 'ptrace: Operation not permitted|^Breakpoint 1, ' | sort -u`,
    prints: 'Breakpoint 1, \n',
    differs: [
      {
        layer: 'seccomp',
        prints: 'ptrace: Operation not permitted\n',
        reason: 'With ptrace a process can control others, including pid 1 of the cell.',
        instead:
          'Debug with what a language has itself: pdb, the inspector of Node, `bash -x`, sanitizers of gcc.',
      },
    ],
  },
  {
    title: 'strace of a program',
    needs: ['strace'],
    code: `strace -o trace.txt /usr/bin/true 2> errors.txt; grep -c ^execve trace.txt; grep -o 'Operation not permitted' errors.txt | head -1; true`,
    prints: '1\n',
    differs: [
      {
        layer: 'seccomp',
        prints: '0\nOperation not permitted\n',
        reason: 'strace uses ptrace, too.',
        instead: 'Trace from outside: an operator may attach to the processes of a cell.',
      },
    ],
  },
]
