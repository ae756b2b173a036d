/** Messages that no harness sends: Python programs that write to the private channel themselves. */

export const pythonFrames = `
import json, os, struct, sys, time
def send(data):
    view = memoryview(data)
    while view: view = view[os.write(3, view):]
def frame(message):
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack('<I', len(data)) + data
`

export const pythonCalls = `
${pythonFrames}
def receive():
    head = b''
    while len(head) < 4: head += os.read(3, 4 - len(head))
    length, body = struct.unpack('<I', head)[0], b''
    while len(body) < length: body += os.read(3, length - len(body))
    return json.loads(body)
def ask(message):
    send(frame(message))
    return receive()
def call(name, *args, id=1): return {'type': 'call', 'id': id, 'name': name, 'args': list(args)}
`

/** Malformed frames. */
export const brokenFrames = {
  'random bytes': 'send(os.urandom(1 << 20))',
  'a length of 4 GiB': `send(b'\\xff\\xff\\xff\\xff' + b'x' * 100000)`,
  'a length that never comes true': `send(struct.pack('<I', 60000) + b'{')`,
  'no JSON': `send(frame(b'\\xff\\xfe{nonsense'))`,
  'JSON that is no message': `send(b''.join(frame(x) for x in (None, 1, 'a', [], {}, {'type': 1}, {'type': 'log'}, {'type': 'value'}, {'type': 'display', 'bundle': []}, {'type': 'error', 'phase': 'x'})))`,
  'an empty frame': 'send(frame(b""))',
  nothing: 'os.close(3)',
}

/** Endless messages. */
export const frameFloods = {
  garbage: `while True: send(b'\\x00' * (1 << 20))`,
  logs: `data = frame({'type': 'log', 'level': 'log', 'text': 'x'}) * 1000\nwhile True: send(data)`,
  'empty logs': `data = frame({'type': 'log', 'level': 'log', 'text': ''}) * 1000\nwhile True: send(data)`,
  displays: `data = frame({'type': 'display', 'bundle': {}}) * 1000\nwhile True: send(data)`,
  values: `data = frame({'type': 'value', 'text': 'x' * 1000, 'value': 'y' * 60000})\nwhile True: send(data)`,
}

const drained = (message: string) => `import threading
def drain():
    while os.read(3, 1 << 20): pass
threading.Thread(target=drain, daemon=True).start()
data = frame(${message}) * 1000\nwhile True: send(data)`

/** Each follows `pythonCalls`, in a run with a function `count` that may be called once. */
export const callFloods = {
  'calls of unknown functions': drained(`call('unknown', 'x' * 100)`),
  'calls that are over the limit': drained(`call('count', 'x' * 100)`),
}

/** Sends a message with a million different keys. */
export const forgeManyKeys = (type: string, rest: string) => `
import os, struct
body = b'{' + b','.join(b'"%x":1' % i for i in range(1000000)) + b'}'
data = b'{"type":"${type}",${rest}' + body + b'}'
view = memoryview(struct.pack('<I', len(data)) + data)
while view: view = view[os.write(3, view):]
`
