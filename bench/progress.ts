/** Prints what the benchmark is doing on stderr, so that stdout has only results. */
export function progress(text: string): void {
  process.stderr.write(`… ${text}\n`)
}
