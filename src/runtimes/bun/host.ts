/** Bun: JavaScript and TypeScript in one Bun process. The engine has no memory limit of its own; the cell has one. */
import { prepareJavaScript } from '../javascript/host.ts'
import type { Engine } from '../javascript/host.ts'
import { ownView } from '../../jail/plan/place.ts'
import { defaultLimits } from '../../core/limits.ts'
import type { Program, Runtime } from '../runtime.ts'
import { planJavaScriptZygote } from '../javascript/forks/host.ts'
import { zygoteProof } from '../javascript/forks/proof.ts'

const MiB = 1024 * 1024

/**
 * Memory for compiled code. By default Bun reserves 1 GiB of data for it. If a limit on data refuses that, Bun silently
 * interprets all code, which is twenty times slower, and lacks `bun:ffi`.
 */
const jitBytes = 128 * MiB

/**
 * How much Bun's allocator reserves at a time. By default it reserves 1 GiB if the limit on data allows that, and Bun aborts
 * if little more than that is available: at memory limits from 320 to 444 MiB without cgroups.
 */
const arenaKib = 128 * 1024

const harnesses = {
  guest: 'runtimes/javascript/guest-bun.js',
  zygote: 'runtimes/javascript/guest-bun-zygote.js',
}

export const bunRuntime: Runtime = {
  name: 'bun',
  languages: ['javascript', 'typescript'],
  parks: 'program',
  startFiles: /^(?:\.env(?:\.[^/]*)?|bunfig\.toml)$/,
  toolchain: {
    find: (toolchains) => toolchains.bun(),
    fix({ libc }) {
      const cpu = process.arch === 'arm64' ? 'aarch64' : 'x64'
      const suffix = libc === 'musl' ? '-musl' : ''
      return `Install the package @oven/bun-linux-${cpu}${suffix}, or put \`bun\` on PATH.`
    },
    isShown: true,
  },
  zygote: {
    plan(wishes) {
      const { language, packages, toolchains } = wishes
      if (process.arch !== 'x64' || toolchains.bun() === null) return null
      const program = bunRuntime.prepare({ language, code: '' }, defaultLimits, {
        toolchains,
        packages,
        place: ownView,
      })
      return planJavaScriptZygote(program, harnesses, wishes)
    },
    proof: zygoteProof,
  },
  prepare(request, limits, { toolchains, packages, place }): Program {
    const binary = toolchains.bun()
    if (binary === null) {
      throw toolchains.refuse('bun', {
        detail: 'No Bun was found.',
        hint: 'Install the package @oven/bun-linux-x64, put `bun` on PATH, or choose `runtime: "node"`.',
      })
    }
    const engine: Engine = {
      name: 'bun',
      harness: harnesses.guest,
      compilesImports: false,
      binary,
      flags: (build) => [
        '--no-install',
        `--tsconfig-override=${build}/runtimes/javascript/bun-tsconfig.json`,
      ],
      // No cache of compiled code, because it would put Lazaret's files into the guest's home. The harness deletes these
      // variables.
      env: {
        BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0',
        BUN_JSC_jitMemoryReservationSize: `${jitBytes}`,
        MIMALLOC_ARENA_RESERVE: `${arenaKib}`,
      },
      baseDataBytes: 264 * MiB + jitBytes,
    }
    return prepareJavaScript(request, limits, { engine, place, packages, toolchains })
  },
}
