import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { bun } from '../support/use-lazaret.ts'
import { bunOnly } from './bun-only.ts'
import { tryPrograms } from './inside-outside.ts'
import { everyday } from './javascript.ts'

const interpreter = new Toolchains().bun()

await tryPrograms({ name: 'Bun', guest: bun, interpreter, ending: 'mjs' }, [...everyday, ...bunOnly])
