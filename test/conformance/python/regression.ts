/**
 * CPython's own tests (the package `test`), one module at a time, in a cell and with the same interpreter outside. Both
 * run the same program, as an unprivileged user, in an empty folder, with the same variables.
 */
import type { Lazaret } from '../../../src/index.ts'
import type { PythonToolchain } from '../../../src/runtimes/packages/python-question.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { plainIdentity, runOutside as runOnHost } from '../../support/hosts/outside.ts'

/** The outcome of each test, by its id. */
export type Outcomes = ReadonlyMap<string, string>

const MiB = 1024 * 1024
/** Enough for the slowest module on a busy machine. */
const wallMs = 300_000

const program = `
import sys, unittest
from test import support

# Nothing that needs the network, a display or a lot of time and memory.
support.use_resources = ()
support.verbose = 0


class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.outcomes = {}

    def put(self, test, outcome, error=None):
        self.outcomes[test.id()] = outcome if error is None else f"{outcome}: {error[1]}"

    def addSuccess(self, test):
        self.outcomes.setdefault(test.id(), "passed")

    def addSkip(self, test, reason):
        self.put(test, "skipped")

    def addFailure(self, test, error):
        self.put(test, "failed", error)

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.put(test, "failed", error)

    def addExpectedFailure(self, test, error):
        self.put(test, "failed as expected")

    def addUnexpectedSuccess(self, test):
        self.put(test, "passed unexpectedly")


result = Outcomes()
unittest.defaultTestLoader.loadTestsFromName("test." + sys.argv[1]).run(result)
`

/** An interpreter that has the tests and that an unprivileged user may start, too. */
export function findPythonWithTests(): PythonToolchain | null {
  return findPythonWith(['test.test_json'], plainIdentity)
}

export async function runInside(lazaret: Lazaret, module: string): Promise<Outcomes> {
  const { value, outcome, stderr } = await lazaret.run({
    language: 'python',
    code: `${program}\nresult.outcomes\n`,
    args: [module],
    limits: { wallMs, memoryBytes: 1024 * MiB, processesMax: 128, openFilesMax: 1024 },
  })
  if (typeof value === 'object' && value !== null) return new Map(Object.entries(value))
  throw new Error(`no outcomes of ${module}: ${JSON.stringify(outcome)}\n${stderr}`)
}

export async function runOutside(python: string, module: string): Promise<Outcomes> {
  const results = 'outcomes.json'
  const save = `\nimport json\nwith open("../${results}", "w") as file:\n    json.dump(result.outcomes, file)\n`
  const { files, stderr } = await runOnHost({
    ...{ file: python, flags: ['-s', '-X', 'utf8'], name: 'program.py', code: program + save, wallMs },
    ...{ args: [module], collect: [results] },
  })
  const saved = files[results]
  if (saved === undefined) throw new Error(`no outcomes of ${module} outside\n${stderr}`)
  return new Map(Object.entries(JSON.parse(saved) as Record<string, string>))
}

/** Ids of tests that ended differently, with both outcomes. All failures count as the same. */
export function listDifferences(inside: Outcomes, outside: Outcomes): ReadonlyMap<string, string> {
  const kind = (outcome = 'missing') => outcome.replace(/^failed: .*/s, 'failed')
  const ids = new Set([...outside.keys(), ...inside.keys()])
  return new Map(
    [...ids]
      .filter((id) => kind(outside.get(id)) !== kind(inside.get(id)))
      .map((id) => [id, `outside ${outside.get(id)}; inside ${inside.get(id)}`]),
  )
}
