/** Environments as text. Names and versions of packages are guest text. */
import type { Environment, EnvironmentPackage } from '../../../environments/environment.ts'
import { formatSize } from '../options/units.ts'
import { toSingleLine } from './terminal-text.ts'

/** One line for each. */
export function describeEnvironments(environments: readonly Environment[]): string {
  return environments.map((one) => `${headline(one)}\n`).join('')
}

export function describeEnvironment(one: Environment): string {
  const { hash, pythonVersion, python, npm } = one
  const lines = [
    headline(one),
    `hash    ${hash}`,
    ...(pythonVersion === null ? [] : [`python  ${pythonVersion}`]),
    ...list('pip', python),
    ...list('npm', npm),
  ]
  return `${lines.join('\n')}\n`
}

function headline({ name, python, npm, files, bytes, updatedAt }: Environment): string {
  const size = `${formatSize(bytes)} in ${files} files`
  return `${name}  ${python.length} from pip, ${npm.length} from npm  ${size}  ${updatedAt}`
}

function list(source: string, packages: readonly EnvironmentPackage[]): string[] {
  return packages.map(({ name, version }) => `${source}     ${toSingleLine(name)} ${toSingleLine(version)}`)
}
