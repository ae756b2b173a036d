/** Parts of shell programs. */
import type { Draw, MakePart, Part } from '../generate.ts'

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const always = (...codes: readonly string[]): MakePart[] => codes.map((code) => () => ({ code }))
/** A command has no NUL. */
const textOf = (draw: Draw): string => draw.text().replaceAll('\0', '')

function readsStdin(draw: Draw): Part {
  const stdin = draw.pick(['', 'one\ntwo\n', 'a\r\nb\rc\n', 'no newline', 'é😀\n日本語', '\n\n'])
  const code = draw.pick([
    'cat',
    'while IFS= read -r line; do printf "[%s]" "$line"; done; echo "rest=$line"',
    'read -r a b; echo "a=$a b=$b"; cat',
    'mapfile -t all; echo "${#all[@]} ${all[0]}"',
    'wc -c; wc -l </dev/null',
    'sort | uniq -c | sed "s/^ *//"',
    'read -n 2 two; echo "$two"; head -c 3',
    'test -t 0 && echo terminal || echo none; cat /dev/stdin',
  ])
  return { code, request: { stdin } }
}

export const shellParts: readonly MakePart[] = [
  (draw) => ({ code: `printf '%s\\n' ${quote(textOf(draw))}` }),
  (draw) => ({ code: `echo ${quote(textOf(draw))} >&2` }),
  (draw) => ({ code: `printf '%q|%5d|%-4s|%x\\n' ${quote(textOf(draw))} ${draw.whole(99)} a 255` }),
  (draw) => ({ code: `text=${quote(textOf(draw))}; echo "\${#text} \${text:0:3} \${text^^} \${text//a/é}"` }),
  readsStdin,
  readsStdin,
  readsStdin,
  (draw) => {
    const name = draw.fileName()
    return {
      code: `cat -- ${quote(name)}; stat -c '%s %a' -- ${quote(name)}; ls -- ${quote(name)}`,
      request: { files: { [name]: draw.text() } },
    }
  },
  (draw) => {
    const args = draw.pick([
      ['a', 'b c'],
      ['', '-v', '--help'],
      ['é', '*', '$HOME'],
      ['-c', 'echo x'],
      ['--', '-'],
    ])
    return {
      code: draw.pick([
        'echo "$#" "$@"',
        'for a; do echo "<$a>"; done',
        'shift; echo "$*"',
        'printf "%s|" "${@: -1}"; while getopts "vc:" o; do echo "$o $OPTARG"; done 2>&1',
      ]),
      request: { args },
    }
  },
  (draw) => {
    const [name, value] = draw.pick([
      ['MINE', 'a = b'],
      ['EMPTY', ''],
      ['TZ', 'Asia/Tokyo'],
      ['LANG', 'C'],
      ['HOME', '/tmp'],
      ['IFS', ':'],
      ['PS4', '+> '],
      ['POSIXLY_CORRECT', '1'],
      ['BASH_ENV', '/dev/null'],
      ['LC_ALL', 'C.UTF-8'],
    ])
    return {
      code: `echo "$${name}"; printenv ${name}; date -d @0 +%H; echo ~`,
      request: { env: { [name]: value } },
    }
  },
  (draw) => {
    const name = `out/${draw.fileName()}`
    return {
      code: `mkdir -p out; printf %s ${quote(textOf(draw))} > ${quote(name)}`,
      request: { collect: ['out/**'] },
    }
  },
  (draw) => {
    const name = draw.id()
    return draw.pick<Part>([
      {
        code: `. ./${name}.sh; ${name}`,
        request: { files: { [`${name}.sh`]: `${name}() { echo "sourced $FUNCNAME"; }\n` } },
      },
      {
        code: `bash ${name}.sh a b; echo $?`,
        request: { files: { [`${name}.sh`]: 'echo "$0 $*"; exit 5\n' } },
      },
      { code: `sh ./${name}.sh`, request: { files: { [`${name}.sh`]: 'set -u; echo $unset\n' } } },
      {
        code: `python3 -c 'import ${name}; print(${name}.v)'`,
        request: { files: { [`${name}.py`]: 'v = 1\n' } },
      },
      { code: `. ./${name}.sh`, request: { files: { [`${name}.sh`]: 'if then\n' } } },
    ])
  },
  ...always(
    'echo $((1 + 2 * 3)) $((16#ff)) $((7 / 2)) $((2 ** 10))',
    'a=(x "y z" é); echo "${a[1]} ${#a[@]} ${a[@]:1}"; declare -A m=([k]=v); echo "${m[k]}"',
    'cat <<EOF\nhere $((1+1))\nEOF\ncat <<"EOF"\nraw $HOME\nEOF',
    'cat <<< "here string"; echo {1..5} {a,b}c',
    'f() { local v=1; return 3; }; f; echo "$? ${v-unset}"',
    'echo a | tr a b | sed s/b/c/ | awk "{print \\$1 NR}"',
    'echo "${PIPESTATUS[@]}"; false | true; echo "${PIPESTATUS[@]} $?"',
    'set -o pipefail; false | true; echo $?; set +o pipefail',
    '(exit 4); echo $?; ! true; echo $?',
    'trap "echo on exit" EXIT',
    'trap "echo err \\$LINENO" ERR; false; trap - ERR',
    'sleep 0.01 & wait $!; echo "waited $?"',
    'echo $0 $# $- | tr -d "\\n" | wc -c | awk "{print (\\$1 > 0)}"',
    'echo "$BASH_SUBSHELL $SHLVL $LINENO ${BASH_SOURCE[0]##*/} ${FUNCNAME[0]-none}"',
    'echo "$- ${SHELLOPTS}"',
    'shopt | grep -c "on$"; set -o | grep "on$" | sort | tr "\\n" " "',
    'pwd; echo $PWD $OLDPWD; cd /tmp && pwd; cd - >/dev/null; echo ~',
    'umask; ulimit -c; ulimit -s >/dev/null; id -un 2>/dev/null | wc -l',
    'type -t echo cat if; command -v sh; hash -r',
    'no_such_command; echo $?',
    '/no/such/path; echo $?; ./ ; echo $?',
    'echo out; echo err >&2; echo out2',
    'exec 3>&1; echo three >&3; exec 3>&-',
    '{ echo a; echo b >&2; } 2>&1 | cat -n',
    'printf "raw\\xff\\xfe\\n"',
    'printf "a\\0b" | od -c | head -1',
    'echo é日本 | wc -m; echo é | od -An -tx1',
    'seq 3 | while read n; do echo "n$n"; done; echo "${n-gone}"',
    'for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done; until true; do :; done; case ab in a*) echo A;; *) echo B;; esac',
    '[[ abc =~ b(.) ]] && echo "${BASH_REMATCH[1]}"; [[ a < b ]] && echo less; [ -z "" ] && echo empty',
    'select x in; do break; done </dev/null; echo "selected ${x-none}"',
    'eval "echo evaluated"; source /dev/stdin <<< "echo from stdin"',
    'diff <(echo a) <(echo b); echo $?; comm -12 <(printf "1\\n2\\n") <(printf "2\\n3\\n")',
    'mkdir -p d/e; touch d/e/f; find d | sort; rm -r d; ln -s x y; readlink y; rm y',
    'test -t 1 && echo tty || echo none; readlink /proc/self/fd/1 | cut -d: -f1',
    'jobs; set -m; sleep 0.01 & fg >/dev/null 2>&1; echo $?; set +m',
    'kill -l 9 15; (kill -TERM $BASHPID); echo $?',
    'read x < /dev/null; echo "$? [$x]"',
    'unset nothing; echo "${nothing:-default}" "${nothing+set}"; : "${made:=value}"; echo $made',
    'printf "%(%Y)T\\n" 0; date -u -d @0 +%FT%T; TZ=Asia/Tokyo date -d @0 +%H',
    '{ time true; } 2>/dev/null',
    'declare -i n=5; n+=2; echo $n; readonly r=1; declare -p r n',
    'alias ll=ls; alias; shopt expand_aliases',
    'history | wc -l; echo ${HISTFILE-none}; help echo | head -1',
    'python3 -c "import sys; print(sys.stdin.read(), sys.argv)" x',
    'env | cut -d= -f1 | sort | tr "\\n" " "',
    'ls -A | sort | head -3 | wc -l | awk "{print (\\$1 < 9)}"',
    'set -x; echo traced; set +x',
    'tee copy < <(echo teed); cat copy; xargs -n1 echo < <(echo 1 2)',
  ),
]

export const shellEnds: readonly MakePart[] = always(
  'exit',
  'exit 3',
  'exit 300',
  'exit -1',
  'exit x',
  'false',
  'set -e; false; echo never',
  'set -u; echo $undefined_variable; echo never',
  'set -euo pipefail; true | false; echo never',
  'kill -TERM $$',
  'kill -KILL $$',
  'kill -SEGV $$',
  'no_such_command_at_end',
  'if then',
  'echo "unterminated',
  'cat <<EOF\nunended',
  'f() {',
  'done',
  'echo $((1 / 0))',
  'return 3',
  'exec false',
  'exec echo replaced',
  'exec no_such_program',
  '. ./no_such_file',
  'cd /no/such && echo never',
  'readonly z=1; z=2; echo never',
  'trap "exit 9" EXIT; exit 1',
  'trap "echo term; exit 7" TERM; kill -TERM $$; sleep 1',
  'echo ${bad substitution}',
  'cat /no/such',
  'sleep 1 & echo background',
  '(sleep 0.1; echo late) & echo now',
  'echo >/no/such/file',
  '>&5 echo closed',
  'exec >&-; echo to nowhere',
  'yes | head -1',
  'command exit 8',
)
