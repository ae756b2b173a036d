/** The programs of the other suites: conformance, compatibility, the contract of runtimes, and the examples. */
import { createJobs } from '../../examples/jobs.ts'
import type { RunRequest } from '../../src/core/request.ts'
import { bunOnly } from '../compatibility/bun-only.ts'
import { everyday } from '../compatibility/javascript.ts'
import { nodeOnly } from '../compatibility/node-only.ts'
import { optionWalls } from '../compatibility/option-walls.ts'
import type { CompatibilityProgram } from '../compatibility/program.ts'
import { pythonPrograms as pythonCompatibility } from '../compatibility/python-programs.ts'
import { shellPrograms as shellCompatibility } from '../compatibility/shell-programs.ts'
import { walls } from '../compatibility/walls.ts'
import { builtins } from '../conformance/javascript/builtins.ts'
import { consoles } from '../conformance/javascript/console.ts'
import { errors } from '../conformance/javascript/errors.ts'
import { functions } from '../conformance/javascript/functions.ts'
import { interfaces } from '../conformance/javascript/interfaces.ts'
import { modules } from '../conformance/javascript/modules.ts'
import { processes } from '../conformance/javascript/processes.ts'
import { statements as javascriptStatements } from '../conformance/javascript/statements.ts'
import { syntaxErrors } from '../conformance/javascript/syntax-errors.ts'
import { typescriptFiles } from '../conformance/javascript/typescript-files.ts'
import { typescript } from '../conformance/javascript/typescript.ts'
import { asynchronous } from '../conformance/python/asynchronous.ts'
import { classes } from '../conformance/python/classes.ts'
import { displays } from '../conformance/python/displays.ts'
import { expressions } from '../conformance/python/expressions.ts'
import { failures } from '../conformance/python/failures.ts'
import { library } from '../conformance/python/library.ts'
import { statements as pythonStatements } from '../conformance/python/statements.ts'
import { system } from '../conformance/python/system.ts'
import { bunPrograms, nodePrograms } from '../contracts/runtime/javascript.programs.ts'
import type { RuntimePrograms } from '../contracts/runtime/programs.ts'
import { pythonPrograms } from '../contracts/runtime/python.programs.ts'
import { shellPrograms } from '../contracts/runtime/shell.programs.ts'
import { readText } from '../support/sources/checkout.ts'
import type { Engine, Program } from './program.ts'

const wallMs = 60_000
/** Names that only Lazaret defines, and its folder. */
const ownNames =
  /\/workspace\b|\b(?:input_data|display|clear_output|update_display|\$INPUT)\b|(?<![.\w])input\b(?!\()/

/** Completes a request that a table gives in part. */
export function programOf(
  engine: Engine,
  name: string,
  request: Omit<RunRequest, 'language' | 'runtime'> & Partial<Pick<RunRequest, 'language'>>,
  isPlain = request.input === undefined && !ownNames.test(request.code),
): Program {
  const language = engine === 'bun' || engine === 'node' ? 'javascript' : engine
  return { name, engine, isPlain, request: { language, runtime: engine, limits: { wallMs }, ...request } }
}

export async function corpusOf(engine: Engine): Promise<Program[]> {
  const jobs = (await createJobs()).filter(({ request }) => runtimeOf(request) === engine)
  return [
    ...tablesOf[engine](),
    ...contractOf(engine),
    ...jobs.map(({ path, request }) =>
      programOf(engine, `examples: ${path}`, { ...request, code: readText(`examples/${path}`) }),
    ),
  ]
}

function runtimeOf({ language, runtime }: Omit<RunRequest, 'code'>): string {
  return runtime ?? (language === 'javascript' || language === 'typescript' ? 'bun' : language)
}

const tablesOf: Readonly<Record<Engine, () => Program[]>> = {
  python: () => [
    ...Object.entries({
      expressions,
      statements: pythonStatements,
      classes,
      asynchronous,
      failures,
      library,
      system,
      displays,
    }).flatMap(([area, cases]) =>
      cases.map(({ feature, code, request }) =>
        programOf('python', `conformance, ${area}: ${feature}`, { code, ...request }),
      ),
    ),
    ...compatible('python', [...pythonCompatibility, ...walls, ...optionWalls]),
  ],
  bun: () => [...conformant('bun'), ...compatible('bun', [...everyday, ...bunOnly])],
  node: () => [...conformant('node'), ...compatible('node', [...everyday, ...nodeOnly])],
  shell: () => compatible('shell', shellCompatibility),
}

function conformant(engine: 'bun' | 'node'): Program[] {
  const tables = {
    statements: javascriptStatements,
    functions,
    builtins,
    modules,
    typescript,
    'TypeScript files': typescriptFiles,
    errors,
    'syntax errors': syntaxErrors,
    console: consoles,
    processes,
    interfaces,
  }
  return Object.entries(tables).flatMap(([area, table]) =>
    table.map(({ title, from: _chapter, expected: _expected, differs: _differs, ...request }) =>
      programOf(engine, `conformance, ${area}: ${request.language ?? 'javascript'}: ${title}`, request),
    ),
  )
}

/** What a wall stops differs from the plain engine as docs/reference/compatibility.md says. */
function compatible(engine: Engine, programs: readonly CompatibilityProgram[]): Program[] {
  return programs.map(({ title, code, files, stdin, args, differs, outsideVaries }) =>
    programOf(
      engine,
      `compatibility: ${title}`,
      { code, ...(files && { files }), ...(stdin !== undefined && { stdin }), ...(args && { args }) },
      differs === undefined && outsideVaries === undefined,
    ),
  )
}

const contracts: Readonly<Record<Engine, RuntimePrograms>> = {
  python: pythonPrograms,
  bun: bunPrograms,
  node: nodePrograms,
  shell: shellPrograms,
}

function contractOf(engine: Engine): Program[] {
  const programs = contracts[engine]
  const files = { 'plain.txt': 'plain', 'one/two.txt': 'nested', "it's “odd” ✓": 'odd', empty: '' }
  const { errors: failing, value, input, console } = programs
  const named: Readonly<Record<string, Omit<RunRequest, 'language'> | undefined>> = {
    'prints a text': { code: programs.print('text ✓') },
    'prints to both': { code: programs.printToBoth },
    'exits with 3': { code: programs.exitWith(3) },
    'copies stdin': { code: programs.copyStdin, stdin: 'a\r\nb\rc\n日本語' },
    'copies no stdin': { code: programs.copyStdin },
    'prints arguments': { code: programs.printArguments, args: ['', ' ', '-c', '*', '日本語'] },
    'prints files': { code: programs.printFiles(...Object.keys(files)), files },
    'prints names': { code: programs.printNames('one'), files },
    'prints invalid bytes': { code: programs.printBytes([104, 255, 254, 10]) },
    'prints 100,000 bytes': { code: programs.fill(100_000) },
    'fails uncaught': failing ? { code: failing.uncaught.code } : undefined,
    'does not compile': failing ? { code: failing.syntax.code } : undefined,
    'has a value': value ? { code: value.code } : undefined,
    'has an input': { code: input.code, input: { a: [1, 'two', null, new Date(0)] } },
    'uses the console': console ? { code: console.code } : undefined,
  }
  return Object.entries(named).flatMap(([name, request]) =>
    request === undefined ? [] : [programOf(engine, `contract: ${name}`, request)],
  )
}
