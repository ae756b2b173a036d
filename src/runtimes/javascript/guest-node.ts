/** The harness for Node, which also needs hooks for modules of the workspace. Bun needs none. */
import './modules/workspace-modules.ts'
import './guest.ts'
