#!/usr/bin/env node
/**
 * The `lazaret` command. Nothing is imported before Node's version is known: on an older Node the rest
 * would fail with an error that says nothing to its user.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(
    `lazaret: needs Node 22.12 or newer, and this is ${process.versions.node} (${process.execPath}). Install a newer Node and try again.\n`,
  )
  // The exit code of an unavailable runtime; the error table cannot be imported yet.
  process.exitCode = 69
} else {
  // `npm run` moves to the package's folder; the paths that a person writes are meant from where they are.
  if (process.env['npm_lifecycle_event'] === 'lazaret' && process.env['INIT_CWD'])
    process.chdir(process.env['INIT_CWD'])
  // V8 caches compiled code in the package's folder, if that folder belongs to this user. In another user's folder,
  // root would leave files that the owner cannot remove. The cache can lie nowhere else, because V8 trusts what it
  // reads.
  const { statSync } = process.getBuiltinModule('node:fs')
  const folder = `${import.meta.dirname}/../../..`
  if (statSync(folder).uid === process.getuid?.()) {
    const { enableCompileCache } = process.getBuiltinModule('node:module')
    enableCompileCache(`${folder}/.compile-cache`)
  }
  if (process.argv[2] === 'snippet') await import('./commands/snippet-thread.ts')
  const { runProgram } = await import('./program.ts')
  process.exitCode = await runProgram(process.argv.slice(2))
}
