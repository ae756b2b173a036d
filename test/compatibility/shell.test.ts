import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { shell } from '../support/use-lazaret.ts'
import { tryPrograms } from './inside-outside.ts'
import { shellPrograms } from './shell-programs.ts'

const interpreter = new Toolchains().shell()

await tryPrograms({ name: 'shell', guest: shell, interpreter, ending: 'sh' }, shellPrograms)
