/** What the benchmark is doing right now, on stderr, so that stdout holds nothing but results. */
export function progress(text: string): void {
  process.stderr.write(`… ${text}\n`)
}
