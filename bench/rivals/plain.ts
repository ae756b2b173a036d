/** The same work as a plain child of Node, with no wall around it. */
import { spawn } from 'node:child_process'

import { own } from '../measure/interruption.ts'

/** Runs a program to its end and returns its output, as programs for Node usually do. */
export function runPlain(file: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    own(child)
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', (code, signal) =>
      code === 0 ? resolve(text) : reject(new Error(`${file} ended with ${code ?? signal}.`)),
    )
  })
}
