/** Compilers, package managers, terminals and editors, in shell scripts that take too long for the daily suite. */
import type { CompatibilityProgram } from './program.ts'

const leak = '#include <stdlib.h>\nint main(void) { int *list = malloc(4); return list == 0; }\n'

const noShadow =
  'AddressSanitizer reserves terabytes of address space, and without a cgroup `RLIMIT_DATA` counts reserved memory.'

export const shellDevelopment: readonly CompatibilityProgram[] = [
  {
    title: 'pip: its version, a list, an install of a folder into a target without network',
    needs: ['pip3'],
    files: {
      'wheel/made/__init__.py': 'answer = 42\n',
      'wheel/made-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: made\nVersion: 1.0\n',
      'wheel/made-1.0.dist-info/WHEEL':
        'Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      'wheel/made-1.0.dist-info/RECORD': '',
    },
    code: `
pip3 --version > version.txt && grep -c '^pip [0-9]' version.txt
cd wheel && python3 -m zipfile -c ../made-1.0-py3-none-any.whl made made-1.0.dist-info && cd ..
pip3 install -q --no-index --no-cache-dir --disable-pip-version-check --target packages ./made-1.0-py3-none-any.whl && PYTHONPATH=packages python3 -c 'import made; print(made.answer)'`,
    prints: '1\n42\n',
  },
  {
    title: 'npm: its version, init, a script, an install of a folder',
    needs: ['npm'],
    files: {
      'dependency/package.json': '{"name":"dependency","version":"1.0.0","main":"index.js"}',
      'dependency/index.js': 'module.exports = 42\n',
    },
    code: `
npm --version > version.txt && grep -cE '^[0-9]+\\.' version.txt
mkdir project && cd project && npm init -y > /dev/null && npm pkg set scripts.answer='node -p "require(\\"dependency\\")"'
npm install --silent --offline --no-audit --no-fund ../dependency && npm run --silent answer`,
    prints: '1\n42\n',
  },
  {
    title: 'Java: javac and java, threads, files, digests, logging, a child',
    needs: ['javac', 'java'],
    files: {
      'Main.java': `
import java.nio.file.*;
import java.util.logging.Logger;
import java.util.stream.IntStream;
public class Main {
  public static void main(String[] arguments) throws Exception {
    System.out.println(IntStream.range(0, 1000).parallel().sum());
    Files.writeString(Path.of("made.txt"), "made");
    System.out.println(Files.readString(Path.of("made.txt")));
    System.out.println(java.security.MessageDigest.getInstance("SHA-256").digest(new byte[0]).length);
    System.out.println(new String(new ProcessBuilder("echo", "child").start().getInputStream().readAllBytes()).trim());
    Logger.getLogger("main").info("logged");
  }
}
`,
    },
    code: 'javac -J-Xmx128m Main.java && java -Xmx128m Main 2> log.txt; grep -c logged log.txt',
    prints: '499500\nmade\n32\nchild\n1\n',
  },
  {
    title: 'C++: cmake and ninja, exceptions, threads; clang++',
    needs: ['cmake', 'ninja', 'g++', 'clang++'],
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.10)\nproject(main CXX)\nadd_executable(main main.cpp)\n',
      'main.cpp':
        '#include <future>\n#include <iostream>\nint main() { try { throw std::async(std::launch::async, [] { return 42; }).get(); } catch (int number) { std::cout << number << std::endl; } }\n',
    },
    code: 'cmake -S . -B build -G Ninja > log.txt 2>&1 && cmake --build build > log.txt && build/main && clang++ -o other main.cpp && ./other',
    prints: '42\n42\n',
  },
  {
    title: 'AddressSanitizer and UndefinedBehaviorSanitizer find an error',
    needs: ['gcc'],
    files: {
      'main.c':
        '#include <stdlib.h>\nint main(int count, char **words) { (void)words; int large = 0x7fffffff; large += count; char *text = malloc(4); return text[4 + (large & 1)]; }\n',
    },
    code: 'gcc -g -fsanitize=address,undefined main.c -o main && ./main 2> log.txt; grep -oE "heap-buffer-overflow|signed integer overflow" log.txt | sort -u; grep -o "ReserveShadowMemoryRange failed" log.txt; true',
    prints: 'heap-buffer-overflow\nsigned integer overflow\n',
    differs: [
      {
        at: ['standard'],
        layer: 'rlimits',
        prints: 'ReserveShadowMemoryRange failed\n',
        reason: noShadow,
        instead: 'valgrind, or UndefinedBehaviorSanitizer alone; or the level `strong`.',
      },
    ],
  },
  {
    title: 'LeakSanitizer, which AddressSanitizer starts when a program ends well',
    needs: ['gcc'],
    files: { 'main.c': leak },
    code: 'gcc -g -fsanitize=address main.c -o main && ./main 2> log.txt; grep -oE "detected memory leaks|does not work under ptrace" log.txt; ASAN_OPTIONS=detect_leaks=0 ./main 2>> log.txt && echo well; grep -om1 "ReserveShadowMemoryRange failed" log.txt; true',
    prints: 'detected memory leaks\nwell\n',
    differs: [
      {
        at: ['standard'],
        layer: 'rlimits',
        prints: 'ReserveShadowMemoryRange failed\n',
        reason: noShadow,
        instead: 'valgrind, which finds leaks, too.',
      },
      {
        layer: 'seccomp',
        prints: 'does not work under ptrace\nwell\n',
        reason:
          'It stops the threads of its program with ptrace; if it cannot, it ends the program with exit code 1.',
        instead: '`ASAN_OPTIONS=detect_leaks=0`; leaks are found by valgrind.',
      },
    ],
  },
  {
    title: 'valgrind finds a leak',
    needs: ['valgrind', 'gcc'],
    files: { 'main.c': leak },
    code: 'gcc -g -O0 main.c -o main && valgrind --leak-check=full --error-exitcode=9 -q ./main 2> log.txt; echo $?; grep -c "definitely lost" log.txt',
    prints: '9\n1\n',
  },
  {
    title: 'tmux: a server, a session, a command in it',
    needs: ['tmux'],
    code: `
tmux -f /dev/null new-session -d -s main 'echo inside > out.txt; exec sleep 60'
while [ ! -s out.txt ]; do sleep 0.02; done; cat out.txt
tmux list-sessions -F '#{session_name}'; tmux kill-server`,
    prints: 'inside\nmain\n',
  },
  {
    title: 'gpg: a key, a signature, its check',
    needs: ['gpg', 'gpgconf'],
    code: `
export GNUPGHOME=$PWD/keys; mkdir -m 700 keys; echo text > text.txt
gpg --batch -q --passphrase '' --quick-gen-key guest@example.com ed25519 sign 0 2> log.txt
gpg --batch -q --sign text.txt 2> log.txt; gpg --verify text.txt.gpg 2>&1 | grep -c 'Good signature'
gpgconf --kill all`,
    prints: '1\n',
  },
  {
    title: 'vim edits a file; less, ps, pgrep, top, df, free, flock',
    needs: ['vim', 'less', 'ps', 'pgrep', 'top', 'free', 'flock'],
    code: `
printf 'a\\nb\\n' > text.txt; vim -es -u NONE -c '%s/a/c/' -c wq text.txt; paste -sd' ' text.txt
echo paged | less; ps -o comm= -p $$; sleep 60 & until pgrep -x -P $$ sleep > /dev/null; do :; done; pgrep -cx -P $$ sleep; kill $!; top -b -n 1 | head -c 3; echo
df . > log.txt && free > log.txt && flock lock echo held`,
    prints: 'c b\npaged\nbash\n1\ntop\nheld\n',
  },
  {
    title: 'zip, jq, bc, file, openssl, tclsh',
    needs: ['zip', 'unzip', 'jq', 'bc', 'file', 'openssl', 'tclsh'],
    code: `
echo zipped > a && zip -q a.zip a && unzip -p a.zip; echo '{"a":[1,41]}' | jq '.a|add'; echo '2^64' | bc; file -b a.zip | cut -d, -f1
openssl enc -aes-256-cbc -pbkdf2 -k secret -in a | openssl enc -d -aes-256-cbc -pbkdf2 -k secret; echo 'puts [expr 6*7]' | tclsh`,
    prints: 'zipped\n42\n18446744073709551616\nZip archive data\nzipped\n42\n',
  },
  {
    title: 'fontconfig finds the font that the machine prefers',
    needs: ['fc-match'],
    code: `fc-match sans-serif 2> log.txt > font.txt; test -s font.txt && wc -c < log.txt | tr -d ' '`,
    prints: '0\n',
  },
]
