/** Compilers, package managers and their like, inside a cell and outside; the quicker tools are in `test/compatibility/`. */
import { Toolchains } from '../src/runtimes/packages/toolchains.ts'
import { tryPrograms } from '../test/compatibility/inside-outside.ts'
import { shellDevelopment } from '../test/compatibility/shell-development.ts'
import { shell } from '../test/support/use-lazaret.ts'

const interpreter = new Toolchains().shell()

await tryPrograms({ name: 'development tools', guest: shell, interpreter, ending: 'sh' }, shellDevelopment)
