/** What people type in notebooks works in Python contexts, or says in one sentence what to do instead. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeContexts } from './use-contexts.ts'
import { playScript } from './play-script.ts'

await describeContexts((sandbox) => {
  test('commands, magics and questions', async () => {
    await playScript(sandbox, 'python', [
      ['x = 3\n!echo {x + 1} $x ${NOT_SET}', { stdout: '4 3\n' }],
      ['for n in range(2):\n    !echo "n {n}"', { stdout: 'n 0\nn 1\n' }],
      ['def f(inner):\n    found = !echo a; echo {inner}\n    return found\nf("b")', { value: ['a', 'b'] }],
      ['!exit 3\n_exit_code', { value: 3 }],
      ['!echo to-stderr >&2', { stderr: /^to-stderr\n$/ }],
      [
        '!echo a \\\n  b\n1/0',
        { stdout: 'a b\n', error: /division/, stderr: /line 3, in <module>\n {4}1\/0\n/ },
      ],
      ['%matplotlib inline\nx', { value: 3 }],
      ['%%bash\nfor n in 1 2; do echo $n; done', { stdout: '1\n2\n' }],
      ['%%bash\nexit 4', { error: /exit code 4/ }],
      ['%%writefile /tmp/written.py\nwritten = 4', { stdout: 'Wrote /tmp/written.py\n' }],
      ['%run /tmp/written.py\nwritten', { value: 4 }],
      ['%cd /tmp\n%pwd', { value: '/tmp', stdout: '/tmp\n' }],
      ['%env NOTED=5\nimport os; os.environ["NOTED"]', { value: '5', stdout: 'env: NOTED=5\n' }],
      ['%load_ext autoreload', { stderr: /^%load_ext has no effect here\.\n$/ }],
      ['%nosuch', { error: /%nosuch is not available here: use Python, or !command for the shell/ }],
      ['%%nosuch\nx', { error: /%%nosuch is not available here: use Python, or %%bash for the shell/ }],
      ['nosuch?', { stdout: 'Object `nosuch` not found.\n' }],
    ])
    for (const code of ['x?', '?x', 'len??'])
      assert.match(
        (await sandbox.runCode(code)).stdout,
        code.includes('x') ? /Object|Type/ : /Return the number/,
      )
    const timed = await sandbox.runCode('%time y = 5\n%timeit 1 + 1\ny')
    assert.equal(timed.value, 5, timed.stderr)
    assert.match(timed.stdout, /Wall time: .* ms\n.*per loop/)
  })

  test('Python that only looks like them is Python, and other errors are told as written', async () => {
    await playScript(sandbox, 'python', [
      ['text = """\n!ls\n%pip x\nname?\n"""\ntext', { value: '\n!ls\n%pip x\nname?\n' }],
      ['(7\n% 4)', { value: 3 }],
      ['x = = 3', { outcome: 'syntax-error', stderr: /x = = 3\n/ }],
      ['!echo a\nx = = 3', { outcome: 'syntax-error', stderr: /line 2\n {4}x = = 3\n/ }],
      ['what is this?', { outcome: 'syntax-error' }],
    ])
  })

  test('pip without a network and a missing module say where packages come from', async () => {
    const context = await sandbox.createCodeContext()
    const pip = await context.runCode(
      '!false && pip install x\n!pip install --no-index no-such-package-for-lazaret',
    )
    assert.match(pip.stderr, /pip needs a network policy/)
    const missing = await context.runCode('import no_such_module_for_lazaret')
    assert.match(missing.toText(), /Python modules come from an environment, from `packages`/)
    await sandbox.deleteCodeContext(context.id)
  })
})
