/** Compilers, package managers and similar tools, inside a cell and outside; `test/compatibility/` has the faster ones. */
import { Toolchains } from '../src/runtimes/packages/toolchains.ts'
import { tryPrograms } from '../test/compatibility/inside-outside.ts'
import { shellDevelopment } from '../test/compatibility/shell-development.ts'
import { shell } from '../test/support/use-lazaret.ts'

const interpreter = new Toolchains().shell()

await tryPrograms({ name: 'development tools', guest: shell, interpreter, ending: 'sh' }, shellDevelopment)
