import { findPythonWith } from '../support/machine/find-python.ts'
import { plainIdentity } from '../support/hosts/outside.ts'
import { python } from '../support/use-lazaret.ts'
import { tryPrograms } from './inside-outside.ts'
import { optionWalls } from './option-walls.ts'
import { pythonPrograms } from './python-programs.ts'
import { walls } from './walls.ts'

const interpreter = findPythonWith(['sqlite3', 'ssl', 'venv', 'ctypes'], plainIdentity)?.path ?? null
const toolchains = interpreter === null ? {} : { toolchains: { python: interpreter } }

await tryPrograms({ name: 'Python', guest: python, interpreter, ending: 'py', ...toolchains }, [
  ...pythonPrograms,
  ...walls,
  ...optionWalls,
])
