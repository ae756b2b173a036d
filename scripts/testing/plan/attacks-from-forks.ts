/** Which tests run once more with guests that are forks of a zygote. */
import { readSource } from './imports.ts'

/** An attack whose guests can be forks, and would be started for their run otherwise. */
export function attacksFromForks(file: string): boolean {
  if (!file.startsWith('test/escape/')) return false
  const { text } = readSource(file)
  const guestsWithForks =
    /^import \{[^}]*\b(bun|node|python)\b[^}]*\} from '(\.\.\/)+support\/use-lazaret\.ts'/m
  return guestsWithForks.test(text) && !/useLazaret\(\{[^)]*\bpools:/.test(text)
}
