/** The TypeScript handbook, for files of the workspace, which programs in either language may import. */
import { type ConformanceProgram, inTypeScript } from './program.ts'

const files = {
  'shapes.ts': `import type { Unit } from './types.ts'
export enum Colour { Red = 'red', Green = 'green' }
export namespace Geometry { export const sides = 4; export namespace Inner { export const twice = sides * 2 } }
export const seen: unknown[] = []
function note(target: object, key: string, descriptor?: PropertyDescriptor): void {
  seen.push([typeof target, key, typeof descriptor?.value])
}
export abstract class Shape { abstract area(): number }
export class Square extends Shape {
  @note label = 'square'
  constructor(private readonly side: number, public unit: Unit = 'cm') { super() }
  @note area(): number { return this.side ** 2 }
}
`,
  'standard.ts':
    'export const log = (value: Function, context: ClassMethodDecoratorContext) => () => 2\nexport class A { @log m() { return 1 } }',
  'types.ts': "export type Unit = 'cm' | 'in'\nexport interface Named { readonly name: string }",
  'module.mts':
    "import { Colour } from './shapes.ts'\nexport const enum Level { Low = 1 }\nexport default [Colour.Red, Level.Low, import.meta.dirname] as const",
  'common.cts':
    'import path = require("node:path")\nenum Kind { A = 5 }\nexport = { kind: Kind.A, base: path.basename(__filename) }',
  'old.ts': 'enum Kind { B = 6 }\nmodule.exports = { kind: Kind.B }',
  'view.tsx':
    'interface Props { name: string }\nconst Name = ({ name }: Props) => <b>{name}</b>\nexport const view = <><Name name="n" /><i title="t">{1 + 1}</i></>',
  'plain.jsx': 'export const plain = <p class="x" />',
  'pragma.tsx': '/** @jsxImportSource mine */\nexport const own = <p />',
  'classic.tsx':
    '/** @jsxRuntime classic */\n/** @jsx h */\nconst h = (...a: unknown[]) => a\nexport const list = <li>{"x"}</li>',
  'disposed.ts':
    'export const log: string[] = []\nexport function run(): void { using a: Disposable = { [Symbol.dispose]() { log.push("gone") } }; log.push("here") }',
  'nested/index.ts': 'export * from "../types"\nexport const nested: boolean = true',
  'node_modules/react/package.json': '{ "name": "react", "exports": { "./jsx-runtime": "./jsx.js" } }',
  'node_modules/react/jsx.js':
    'const jsx = (type, props) => typeof type === "function" ? type(props) : { type, props }\nexports.jsx = exports.jsxs = jsx\nexports.Fragment = "fragment"',
  'node_modules/mine/package.json': '{ "name": "mine", "exports": { "./jsx-runtime": "./jsx.js" } }',
  'node_modules/mine/jsx.js': 'exports.jsx = exports.jsxs = (type) => "mine " + type',
  'node_modules/typed/package.json': '{ "name": "typed", "type": "module", "exports": "./main.ts" }',
  'node_modules/typed/main.ts': 'export enum Typed { Yes = 1 }',
}

type Row = readonly [title: string, code: string, value: unknown]
const rows = (from: string, list: readonly Row[]): ConformanceProgram[] =>
  list.map(([title, code, value]) => ({ title, from, code, files, expected: { value } }))

const imported =
  'import { Colour, Geometry, Square, seen } from "./shapes.ts"\n;[Colour.Green, Geometry.Inner.twice, new Square(3).area(), new Square(1).unit, seen]'
const shapes = [
  'green',
  8,
  9,
  'cm',
  [
    ['object', 'label', 'undefined'],
    ['object', 'area', 'function'],
  ],
]

export const typescriptFiles: readonly ConformanceProgram[] = [
  ...rows('Handbook: Modules', [
    ['JavaScript that imports enums, namespaces, decorators and parameter properties', imported, shapes],
    ['JavaScript that requires TypeScript', 'require("./shapes.ts").Colour.Red', 'red'],
    ['JavaScript that imports TypeScript by import()', '(await import("./shapes.ts")).Colour.Red', 'red'],
    [
      'JavaScript that imports TypeScript which it wrote itself',
      'require("fs").writeFileSync("fresh.ts", "export enum Fresh { A = 7 }")\n;(await import("./fresh.ts")).Fresh.A',
      7,
    ],
  ]),
  ...inTypeScript([
    ...rows('Handbook: Modules', [
      ['TypeScript that imports the same', imported, shapes],
      ['.mts files', 'import level from "./module.mts"\nlevel', ['red', 1, '/workspace']],
      [
        '.cts files with import = and export =',
        'import common from "./common.cts"\n;[common, require("./common.cts") === common]',
        [{ kind: 5, base: 'common.cts' }, true],
      ],
      ['.ts files that are CommonJS', 'import old from "./old.ts"\nold.kind', 6],
      [
        'names without an extension',
        'import { Colour } from "./shapes"\nimport { nested } from "./nested"\n;[Colour.Red, nested, require("./shapes").Colour.Red]',
        ['red', true, 'red'],
      ],
      [
        'names with the extension of the output',
        'import { Colour } from "./shapes.js"\nimport level from "./module.mjs"\n;[Colour.Red, level[1]]',
        ['red', 1],
      ],
      [
        'types of a file, which is then not loaded',
        'import type { Named } from "./types.ts"\nimport { Unit } from "./types.ts"\nconst n: Named = { name: "cm" satisfies Unit }\nn',
        { name: 'cm' },
      ],
      ['TypeScript in packages', 'import { Typed } from "typed"\nTyped.Yes', 1],
      ['using in a file', 'import { run, log } from "./disposed.ts"\nrun()\nlog', ['here', 'gone']],
    ]),
    ...rows('Handbook: JSX', [
      [
        '.tsx files, by the automatic runtime of react',
        'import { view } from "./view.tsx"\nview',
        {
          type: 'fragment',
          props: {
            children: [
              { type: 'b', props: { children: 'n' } },
              { type: 'i', props: { title: 't', children: 2 } },
            ],
          },
        },
      ],
      ['.jsx files', 'import { plain } from "./plain.jsx"\nplain', { type: 'p', props: { class: 'x' } }],
      [
        'another source of the JSX runtime, named by a comment',
        'import { own } from "./pragma.tsx"\nown',
        'mine p',
      ],
      [
        'the classic runtime, named by a comment',
        'import { list } from "./classic.tsx"\nlist',
        ['li', null, 'x'],
      ],
    ]),
  ]),
  {
    title: 'a tsconfig.json in the workspace, which changes nothing',
    from: 'TSConfig Reference: experimentalDecorators',
    language: 'typescript',
    files: {
      ...files,
      'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": false, "jsx": "preserve" } }',
    },
    code: imported,
    expected: { value: shapes },
  },
  {
    title: 'a file with a decorator in the standard form, which is an error',
    from: 'TSConfig Reference: experimentalDecorators',
    files,
    code: 'import { A } from "./standard.ts"\nnew A().m()',
    expected: {
      outcome: 'failed',
      exitCode: 1,
      error: {
        name: 'TypeError',
        message: /experimentalDecorators/,
        line: 1,
        stack: /at \/workspace\/standard\.ts:2/,
      },
      stderr: /experimentalDecorators/,
    },
    differs: {
      bun: {
        reason: 'Bun compiles the files that a program imports, and ignores what such a decorator returns.',
        expected: { value: 1 },
      },
    },
  },
]
