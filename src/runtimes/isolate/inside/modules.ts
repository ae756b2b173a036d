/** `require` and its libraries. Each library is evaluated at most once in an isolate. */
import { objectKeys, stringIncludes, uncurryThis } from '../../../core/primordials.ts'
import { createFunction } from './code-makers.ts'
import { isForbidden } from './forbidden-modules.ts'
import type { Outside } from './protocol.ts'
import { refuse } from './security.ts'

const ModuleMap = Map<string, { exports: unknown }>
const moduleGet = uncurryThis(ModuleMap.prototype.get)
const moduleSet = uncurryThis(ModuleMap.prototype.set)
const OwnError = Error
const OwnTypeError = TypeError
const parameters = 'module,exports,require,global,self'

export class Modules {
  readonly #outside: Outside
  readonly #loaded = new ModuleMap()
  #allowed: readonly string[] = []

  constructor(outside: Outside) {
    this.#outside = outside
  }

  /**
   * Loads the libraries that the program mentions, before it runs: then they find the language unpatched and may compile
   * code. Others load on demand, when `eval` and the like are already disabled.
   */
  prepare(source: string, allowed: readonly string[]): void {
    this.#allowed = allowed
    if (!stringIncludes(source, 'require')) return
    for (let index = 0; index < allowed.length; index++) {
      const name = allowed[index] as string
      if (quoted(source, name)) this.load(name)
    }
  }

  /**
   * Loads a library before the program is known. Reads all its exports, so that a library that creates them lazily creates
   * them now. With a waiting program, only those that it uses should cost time.
   */
  loadWhole(name: string): void {
    const module = this.load(name)
    if (module === undefined) throw new OwnError(`There is no library ${name}`)
    const whole = module.exports as Readonly<Record<string, unknown>>
    for (const key of objectKeys(whole)) void whole[key]
  }

  /** `undefined` if no library has this name. */
  load(name: string): { exports: unknown } | undefined {
    const known = moduleGet(this.#loaded, name)
    if (known !== undefined) return known
    const text = this.#outside.librarySource(name)
    if (text === undefined) return undefined
    const module = { exports: {} as unknown }
    const evaluate = createFunction(parameters, `${text}\n//# sourceURL=lazaret:library/${name}`)
    evaluate(module, module.exports, this.require, globalThis, globalThis)
    moduleSet(this.#loaded, name, module)
    return module
  }

  require = (name: unknown): unknown => {
    if (typeof name !== 'string') throw new OwnTypeError('require() takes the name of a module')
    const module = this.#isAllowed(name) ? this.load(name) : undefined
    if (module !== undefined) return module.exports
    if (isForbidden(name)) throw refuse(`Module '${name}'`)
    throw new OwnError(`Module '${name}' is not available. Allowed modules: ${this.#names()}`)
  }

  #isAllowed(name: string): boolean {
    for (let index = 0; index < this.#allowed.length; index++) if (this.#allowed[index] === name) return true
    return false
  }

  #names(): string {
    let text = ''
    for (let index = 0; index < this.#allowed.length; index++)
      text += `${index === 0 ? '' : ', '}${this.#allowed[index]}`
    return text === '' ? 'none' : text
  }
}

const quoted = (source: string, name: string): boolean =>
  stringIncludes(source, `'${name}'`) ||
  stringIncludes(source, `"${name}"`) ||
  stringIncludes(source, `\`${name}\``)
