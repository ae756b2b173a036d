/** Compiles src/ to dist/ and puts the harnesses that are not TypeScript beside it. */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')

const compiled = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json')],
  {
    stdio: 'inherit',
  },
)
if (compiled.status !== 0) process.exit(1)

for (const file of globSync('src/runtimes/**/*.py', { cwd: root })) {
  const target = join(root, file.replace(/^src/, 'dist'))
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(join(root, file), target)
}
chmodSync(join(root, 'dist/adapters/cli/main.js'), 0o755)
