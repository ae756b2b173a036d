/** Tests whose results do not depend on the user: they involve no walls, or try every kind of user themselves. */
export const sameForEveryUser = [
  // Entry points and runtimes, which do not depend on walls.
  'test/adapters/actor/',
  'test/adapters/agent/',
  'test/adapters/client/',
  'test/adapters/http/',
  'test/adapters/mcp/',
  'test/adapters/snippet-tool/',
  // Browsers and MCP's own programs, which see only a server's replies; and the server's side of clients that
  // disconnect or guess. The end of a server is tested as each user.
  ...['console', 'console-attacks', 'console-displays', 'console-svg', 'leaving-clients', 'token-timing'].map(
    (name) => `test-deep/serve/${name}.test.ts`,
  ),
  ...['exposed-port', 'hundred-clients', 'mcp-others'].map((name) => `test-deep/${name}.test.ts`),
  'test/console/',
  // What programs find inside is tried at each level.
  ...['bridge', 'classes', 'crashes', 'growth', 'libraries', 'pool', 'reference', 'timeouts'].map(
    (name) => `test/adapters/code-execution/${name}.test.ts`,
  ),
  ...['config-file', 'configuration', 'option-doors', 'token-owner'].map(
    (name) => `test/adapters/cli/configuration/${name}.test.ts`,
  ),
  ...['env', 'exec', 'interruption', 'run', 'serve', 'snippet'].map(
    (name) => `test/adapters/cli/commands/${name}.test.ts`,
  ),
  ...['output-folder', 'outputs', 'printed-values', 'records'].map(
    (name) => `test/adapters/cli/output/${name}.test.ts`,
  ),
  'test/adapters/cli/repl/',
  ...['usage'].map((name) => `test/adapters/cli/${name}.test.ts`),
  'test/conformance/',
  'test/core/',
  // The host's own records and decisions.
  'test/observe/',
  'test/policy/',
  'test/pool/',
  'test/properties/',
  'test/runtimes/',
  'test-deep/hostile-values.test.ts',
  // A fork's random numbers come from the kernel and its engine; engine-forks tests forks as each user.
  'test-deep/random-forks.test.ts',
  'test-deep/fuzz-forks.test.ts',
  'test-deep/large-values.test.ts',
  'test-deep/wide/',
  // The host refuses, queues, admits and reads in the same way, whatever confines a guest.
  ...['bare-realm', 'hostile-requests', 'options', 'parse-request', 'require-node'].map(
    (name) => `test/engine/options/${name}.test.ts`,
  ),
  ...['keep-output', 'many-runs', 'queue'].map((name) => `test/engine/runs/${name}.test.ts`),
  ...['one-story', 'refusals-at-doors'].map((name) => `test/engine/refusals/${name}.test.ts`),
  'test/contracts/values.test.ts',
  // Node's harness is Bun's; parked-runtimes tries both at each level.
  'test/contracts/node-runtime.test.ts',
  // The same walls, with HTTP in between.
  'test/contracts/remote-runtimes.test.ts',
  ...['block-the-loop', 'costly-messages', 'search-the-log'].map(
    (name) => `test/escape/host/${name}.test.ts`,
  ),
  ...['archive-of-many', 'costly-paths', 'costly-patterns'].map(
    (name) => `test/escape/files/${name}.test.ts`,
  ),
  ...['conceal-last-line', 'forged-calls', 'forged-frames', 'overflow-in-host-calls'].map(
    (name) => `test/escape/outcome/${name}.test.ts`,
  ),
  'test/escape/engines/hidden-globals.test.ts',
  // A snippet has the same wall whoever runs it.
  'test/engine/runs/snippets.test.ts',
  'test/escape/engines/snippet-reach.test.ts',
  // Pages, packages, sources and scripts. Some of them become a plain user by themselves.
  'test/agents/',
  ...[
    'architecture',
    'examples',
    'exports',
    'extending',
    'http-page',
    'package',
    'page-names',
    'page-tables',
    'page-types',
    'readme',
    'safe-defaults',
    'servers-page',
  ].map((name) => `test/${name}.test.ts`),
  'test/bench/',
  'test/compatibility/page.test.ts',
  'test/profiles/',
  'test/scripts/',
  'test/support/',
  'test-deep/fuzz.test.ts',
  // The edge of a network is a part of the host's process, and its relay is fuzzed outside of cells; network-policy and the
  // attacks in test/escape/network try the walls around it as each user.
  'test/jail/edge/',
  'test/escape/network/recover-masked-secrets.test.ts',
  'test/sandbox/network/secrets.test.ts',
  ...['network-packages', 'network-programs'].map((name) => `test/engine/runs/${name}.test.ts`),
  // What the interpreter in a sandbox answers, and what the host passes on; forks, interruptions and ends of contexts, other
  // commands and files are tried as each user.
  ...['completion', 'displays', 'libraries', 'recorded', 'scripts'].map(
    (name) => `test/sandbox/contexts/${name}.test.ts`,
  ),
  ...['endless-output', 'exec-stream'].map((name) => `test/sandbox/commands/${name}.test.ts`),
  // HTTP between a browser and a sandbox, which the host answers or passes on.
  'test/sandbox/jupyter/',
  'test/sandbox/ports/',
  'test/escape/sandbox/jupyter-server.test.ts',
  // Third-party projects, which take minutes. Other tests cover the sandboxes of a plain user.
  'test-deep/real-projects.test.ts',
  'test-deep/sanitized-launcher.test.ts',
  'test-deep/soak.test.ts',
  'test-deep/stress.timing.test.ts',
  // As root they become other users themselves.
  'test-deep/sudden-deaths.test.ts',
  'test/engine/refusals/missing-layers.test.ts',
]
