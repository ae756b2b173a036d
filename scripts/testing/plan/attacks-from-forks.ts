/** Which tests run again with guests that are forks of a zygote. */
import { readSource } from './imports.ts'

/** They keep the host busy with messages, which do not depend on how the guest was started. */
const againstTheHost = ['block-the-loop', 'costly-messages'].map((name) => `test/escape/host/${name}.test.ts`)

/** Whether it is an attack whose guests can be forks, and are started for their run by default. */
export function attacksFromForks(file: string): boolean {
  if (!file.startsWith('test/escape/') || againstTheHost.includes(file)) return false
  const { text } = readSource(file)
  const guestsWithForks =
    /^import \{[^}]*\b(bun|node|python)\b[^}]*\} from '(\.\.\/)+support\/use-lazaret\.ts'/m
  return guestsWithForks.test(text) && !/useLazaret\(\{[^)]*\bpools:/.test(text)
}
