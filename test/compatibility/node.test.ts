import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { node } from '../support/use-lazaret.ts'
import { tryPrograms } from './inside-outside.ts'
import { everyday } from './javascript.ts'
import { nodeOnly } from './node-only.ts'

const interpreter = new Toolchains().node()

await tryPrograms({ name: 'Node', guest: node, interpreter, ending: 'mjs' }, [...everyday, ...nodeOnly])
