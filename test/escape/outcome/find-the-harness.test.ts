/** The harness shares its process with guest code, which can find its objects and make it lie. But its messages are only claims. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import { bun, node, python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { wallMs: ampleMs }

/** Each finds objects of the harness, breaks or uses them, claims one end of the program, and ends in another way. */
const fromPython = {
  'subclasses of object': `
for kind in ().__class__.__base__.__subclasses__():
    if (getattr(kind, '__module__', '') or '').startswith('guest'):
        for name in list(vars(kind)):
            try: setattr(kind, name, lambda *a, **k: {'type': 'outcome', 'kind': 'timed-out'})
            except (TypeError, AttributeError): pass`,
  'frames and tracebacks': `
import sys
frames = []
try: 1 / 0
except ZeroDivisionError as error: frame = error.__traceback__.tb_frame
while frame:
    frames.append(frame)
    frame = frame.f_back
for frame in frames[1:] + list(sys._current_frames().values()):
    for name, value in list(frame.f_globals.items()):
        if callable(value) and not name.startswith('__') and frame.f_globals is not globals(): frame.f_globals[name] = lambda *a, **k: None`,
  'gc.get_objects': `
import gc, types
for one in gc.get_objects():
    if isinstance(one, types.FunctionType) and 'guest' in one.__code__.co_filename and one.__globals__ is not globals():
        try: one.__code__ = (lambda *a, **k: None).__code__
        except (ValueError, AttributeError): pass
    elif isinstance(one, types.ModuleType) and one.__name__.startswith('guest'): vars(one).clear()`,
  'ctypes, writing over None and small numbers': `
import ctypes, os
os.write(1, b'said')
size = (1).__sizeof__()
ctypes.memmove(id(0) + size - 4, id(7) + size - 4, 4)
ctypes.memset(id(None), 0, 16)
os._exit(7)`,
  'sys.settrace': `
import sys
def forge(frame, event, argument):
    if 'guest' in frame.f_code.co_filename:
        for name in list(frame.f_locals): frame.f_locals[name] = {'type': 'outcome'}
    return forge
sys.settrace(forge)
import threading
threading.settrace(forge)`,
  'the channel itself': `
import gc, io, os, socket, struct
for fd in range(3, 64):
    for text in (b'{"type":"outcome","outcome":{"kind":"timed-out","limit":"wall","limitMs":1}}', b'{"type":"exit","exitCode":0}'):
        try: os.write(fd, struct.pack('<I', len(text)) + text)
        except OSError: pass`,
}

for (const [name, code] of Object.entries(fromPython)) {
  test(`python: ${name} changes only the program’s own claims, not how it ended`, async () => {
    const { outcome, stdout, receipt } = await guests.run({
      ...python,
      code: `${code}\nimport os\nos.write(1, b'said')\nos._exit(7)`,
      limits,
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 7 })
    assert.equal(stdout, 'said')
    assert.equal(receipt.protection, guests.level)
  })

  test(`python: ${name} does not keep a program past its deadline`, async () => {
    const { result } = await runPatiently(guests.run, {
      ...python,
      code: `${code}\nimport os\nos.write(1, b'said')\nwhile True: pass`,
    })
    assert.equal(result.stdout, 'said')
    const { kind } = result.outcome
    assert.ok(kind === 'timed-out' || (name.startsWith('ctypes') && kind === 'completed'), kind)
  })
}

const fromJavaScript = {
  'constructor chains': `
    const found = [(() => {}).constructor, (async () => {}).constructor, (function* () {}).constructor, (async function* () {}).constructor, console.log.constructor, import.meta.constructor ?? Object]
    for (const make of found) { try { make('return process')()?.stdout } catch {} }
    const top = found[0]('return this')()
    for (const key of Reflect.ownKeys(top)) { try { if (typeof top[key] === 'function' && key !== 'process') top[key] = () => ({ kind: 'timed-out' }) } catch {} }`,
  'Error.prepareStackTrace and call sites': `
    const reached = []
    Error.prepareStackTrace = (_, sites) => sites
    Error.stackTraceLimit = 1000
    const sites = new Error('x').stack
    for (const site of Array.isArray(sites) ? sites : []) for (const how of ['getThis', 'getFunction', 'getEvalOrigin', 'getTypeName']) { try { reached.push(site[how]?.()) } catch {} }
    for (const one of reached) { if (one === null || one === undefined || (typeof one !== 'object' && typeof one !== 'function') || one === globalThis) continue; for (const key of Reflect.ownKeys(one)) { try { one[key] = () => ({ type: 'outcome' }) } catch {} } }`,
  'Symbol.species and a promise that lies': `
    const liar = function (run) { run(() => {}, () => {}); return { then: (take) => take({ kind: 'timed-out' }) } }
    for (const kind of [Array, Promise, Map, Set, RegExp, ArrayBuffer, Uint8Array]) { try { Object.defineProperty(kind, Symbol.species, { get: () => liar }) } catch {} }
    Promise.prototype.then = function (take) { take?.({ type: 'exit', exitCode: 0 }); return this }`,
  'every module that is loaded': `
    const { createRequire } = await import('node:module')
    const require = createRequire('/workspace/x.js')
    for (const [, one] of Object.entries(require.cache ?? {})) { try { for (const key of Object.keys(one.exports)) one.exports[key] = () => { throw new Error('patched') } } catch {} }
    const fs = require('fs'); const real = fs.writeSync
    fs.writeSync = (fd, ...rest) => (fd === 3 ? real(3, Buffer.from([255, 255, 255, 255])) : real(fd, ...rest))`,
  'bindings of the engine': `
    for (const name of ['binding', '_linkedBinding', 'dlopen', '_debugProcess', '_kill', 'reallyExit', 'abort', '_rawDebug']) { try { const got = name.includes('inding') ? ['fs', 'spawn_sync', 'tcp_wrap', 'util', 'natives', 'contextify'].map((one) => process[name](one)) : process[name]; for (const one of [got].flat()) for (const key of Object.keys(one ?? {})) { try { if (key !== 'exit') one[key] = () => 0 } catch {} } } catch {} }
    try { (await import('node:inspector')).open(0, '127.0.0.1', false) } catch {}
    try { (await import('node:v8')).setFlagsFromString('--allow-natives-syntax') } catch {}`,
  'a proxy for everything that is global': `
    for (const key of Reflect.ownKeys(globalThis)) { try { const one = globalThis[key]; if (key !== 'process' && (typeof one === 'object' || typeof one === 'function')) globalThis[key] = new Proxy(one, { get() { throw new Error('trapped') }, apply() { return { kind: 'timed-out' } }, construct() { return {} } }) } catch {} }`,
}

for (const runtime of [bun, node]) {
  for (const [name, code] of Object.entries(fromJavaScript)) {
    test(`${runtime.runtime}: ${name}: the reported end is still the real one`, async () => {
      const { outcome, stdout, receipt } = await guests.run({
        ...runtime,
        code: `const { writeSync } = await import('node:fs'); const { exit } = process; writeSync(1, 'said'); ${code}\nexit.call(process, 7)`,
        limits,
      })
      assert.deepEqual(outcome, { kind: 'completed', exitCode: 7 })
      assert.equal(stdout, 'said')
      assert.equal(receipt.protection, guests.level)
    })
  }
}
