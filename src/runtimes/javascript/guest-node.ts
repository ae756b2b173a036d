/** The harness as Node gets it. Bun needs no help with the modules of the workspace. */
import './modules/workspace-modules.ts'
import './guest.ts'
