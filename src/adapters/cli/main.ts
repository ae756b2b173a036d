#!/usr/bin/env node
/**
 * The `lazaret` command. Nothing is imported before Node's version is checked: on an older Node the rest would fail with
 * an error that does not help its user.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 24 || (major === 24 && minor < 11)) {
  process.stderr.write(
    `lazaret: needs Node 24.11 or newer, and this is ${process.versions.node} (${process.execPath}). Install a newer Node and try again.\n`,
  )
  // The exit code of an unavailable runtime; the error table cannot be imported yet.
  process.exitCode = 69
} else {
  // `npm run` changes to the package's folder, but a person's paths are relative to the folder where they typed them.
  if (process.env['npm_lifecycle_event'] === 'lazaret' && process.env['INIT_CWD'])
    process.chdir(process.env['INIT_CWD'])
  // V8 caches compiled code in the package's folder, if that folder belongs to this user. In another user's folder,
  // root would leave files that the owner cannot remove. V8 trusts what it reads, so no other user may write there,
  // whatever the umask is: an existing cache that is not private is not used.
  const { lstatSync, mkdirSync, statSync } = process.getBuiltinModule('node:fs')
  const folder = `${import.meta.dirname}/../../..`
  const user = process.getuid?.()
  if (statSync(folder).uid === user) {
    const cache = `${folder}/.compile-cache`
    try {
      if (lstatSync(cache, { throwIfNoEntry: false }) === undefined) mkdirSync(cache, { mode: 0o700 })
      const { mode, uid } = lstatSync(cache)
      // A folder, with no rights for others.
      if (uid === user && (mode & 0o170_077) === 0o040_000) {
        const { enableCompileCache } = process.getBuiltinModule('node:module')
        enableCompileCache(cache)
      }
    } catch {
      // A package that cannot be written to has no cache.
    }
  }
  if (process.argv[2] === 'snippet') await import('./commands/snippet-thread.ts')
  const { runProgram } = await import('./program.ts')
  process.exitCode = await runProgram(process.argv.slice(2))
}
