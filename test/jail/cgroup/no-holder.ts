/** These tests need groups that exist without a scope of systemd. */
export function noHolder(): never {
  throw new Error('this test has no process that holds a scope')
}
