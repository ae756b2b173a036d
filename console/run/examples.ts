/** Example programs, including some that misbehave. */
import type { Language } from '../../src/core/request.ts'

export interface Example {
  readonly label: string
  readonly language: Language
  readonly code: string
}

const plot = `# A picture without any package: an object with _repr_svg_ is shown as one.
import math

class Plot:
    def __init__(self, f, start, end):
        self.points = [(x, f(x)) for x in (start + (end - start) * i / 240 for i in range(241))]

    def _repr_svg_(self):
        xs, ys = zip(*self.points)
        low, high = min(ys), max(ys)
        line = " ".join(
            f"{20 + 440 * (x - xs[0]) / (xs[-1] - xs[0]):.1f},{180 - 160 * (y - low) / (high - low):.1f}"
            for x, y in self.points
        )
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 200" width="480" height="200">'
            '<rect width="480" height="200" rx="10" fill="#f4f7f6"/>'
            f'<polyline points="{line}" fill="none" stroke="#0f766e" stroke-width="2.5"/></svg>'
        )

print("sin(x) / x, drawn inside the cell")
display(Plot(lambda x: math.sin(x) / x if x else 1.0, -20, 20))
{"points": 241, "peak": 1.0}
`

export const examples: readonly Example[] = [
  { label: 'A plot', language: 'python', code: plot },
  {
    label: 'An endless loop',
    language: 'python',
    code: `import itertools, time

for n in itertools.count():
    print(f"still here: {n}", flush=True)
    time.sleep(0.2)
`,
  },
  {
    label: 'Read the host',
    language: 'python',
    code: `# What a hostile program tries first. Each line says what it got.
import os, socket

def attempt(what, act):
    try:
        print(f"\\x1b[33m{what}\\x1b[0m got {act()!r}"[:120])
    except Exception as error:
        print(f"\\x1b[32m{what}\\x1b[0m {type(error).__name__}: {error}")

attempt("/etc/shadow", lambda: open("/etc/shadow").read(40))
attempt("processes", lambda: [p for p in os.listdir("/proc") if p.isdigit()])
attempt("root", lambda: os.setuid(0))
attempt("network", lambda: socket.create_connection(("1.1.1.1", 53), 1))
attempt("home", lambda: os.listdir("/root"))
`,
  },
  {
    label: 'Take all memory',
    language: 'python',
    code: `held = []
while True:
    held.append(bytearray(16 * 1024 * 1024))
    print(f"{len(held) * 16} MiB", flush=True)
`,
  },
  {
    label: 'Values',
    language: 'javascript',
    code: `const words = 'the quick brown fox jumps over the lazy dog'.split(' ')
console.log(words.length, 'words')
new Map(words.map((word) => [word, word.length]))
`,
  },
  { label: 'Block the loop', language: 'javascript', code: `console.log('this never ends')\nfor (;;);\n` },
  {
    label: 'Types',
    language: 'typescript',
    code: `interface Point { x: number; y: number }
const distance = ({ x, y }: Point): number => Math.hypot(x, y)
console.log(distance({ x: 3, y: 4 }))
;[{ x: 3, y: 4 }, { x: 5, y: 12 }].map(distance)
`,
  },
  { label: 'Look around', language: 'shell', code: `id\nuname -sr\nls -la /\nps aux\n` },
  {
    label: 'Fork bomb',
    language: 'shell',
    code: `bomb() { bomb | bomb & }\nbomb\nsleep 2\necho "still alive"\n`,
  },
]
