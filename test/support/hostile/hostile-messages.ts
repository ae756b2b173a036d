/**
 * Programs whose messages cost the host more than their length suggests. All are Python that writes to descriptor 3.
 */

const frames = `
import os, struct, sys, threading, time
def send(data):
    view = memoryview(data)
    while view: view = view[os.write(3, view):]
def frame(data): return struct.pack('<I', len(data)) + data
def value(body): return frame(b'{"type":"value","text":"","truncated":false,"value":' + body + b'}')
def call(body): return frame(b'{"type":"call","id":1,"name":"echo","args":[' + body + b']}')
def drain():
    while os.read(3, 1 << 20): pass
def colliding(count):
    # The inverse of V8's hash of small integers: all of these are in one bucket of any table with up to 2^18 buckets.
    mask = 0xffffffff
    def undo_shift(x, by):
        result = x
        for _ in range(32 // by + 1): result = x ^ (result >> by)
        return result
    found, low = [], 0
    inverse_2057 = pow(2057, -1, 1 << 32)
    for high in range(1 << 14):
        x = (high << 16 | 0x1234) & mask
        x = undo_shift(x, 16); x = x * inverse_2057 & mask
        x = undo_shift(x, 4); x = x * pow(5, -1, 1 << 32) & mask
        x = undo_shift(x, 12); x = (x + 1) * pow((1 << 15) - 1, -1, 1 << 32) & mask
        if x < 1 << 30: found.append(x)
        if len(found) == count: break
    return found
`

const wide = {
  'a million lists': `b'[' + b'[],' * 999000 + b'1]'`,
  'half a million objects': `b'[' + b'{"a":1},' * 500000 + b'1]'`,
  'objects of different keys': `b'[' + b','.join(b'{"k%d":1}' % i for i in range(200000)) + b']'`,
  'an object of many keys': `b'{' + b','.join(b'"k%d":1' % i for i in range(200000)) + b'}'`,
  numbers: `b'[' + b'1,' * 3900000 + b'1]'`,
  'texts of escapes': `b'["' + b'\\\\u0041' * 2600000 + b'"]'`,
  'bytes that are no text': `b'["' + b'a\\xff' * 7000000 + b'"]'`,
  'many small texts': `b'[' + b'"abcdefghijklmnop",' * 800000 + b'1]'`,
  'integers that collide, in a set': `b'{"$type":"Set","value":' + str(colliding(4000)).encode() + b'}'`,
  'integers that collide, in many sets': `b'[' + b','.join([b'{"$type":"Set","value":' + str(colliding(4000)).encode() + b'}'] * 200) + b']'`,
  'patterns of named sets': `b'[' + b','.join([b'{"$type":"RegExp","source":"' + b'[\\\\\\\\p{RGI_Emoji}]' * 200 + b'","flags":"v"}'] * 2000) + b']'`,
  'patterns of a few named sets': `b'[' + b','.join([b'{"$type":"RegExp","source":"' + b'[\\\\\\\\p{RGI_Emoji}]' * 8 + b'","flags":"v"}'] * 20000) + b']'`,
  references: `b'[[1],' + b','.join([b'{"$type":"Ref","path":[0]}'] * 400000) + b']'`,
  'bytes in base64': `b'{"$type":"bytes","value":"' + b'A' * 15000000 + b'"}'`,
  'an integer of many digits': `b'{"$type":"BigInt","value":"0x' + b'f' * 15000000 + b'"}'`,
  errors: `b'[' + b','.join([b'{"$type":"Error","name":"E","message":"m"}'] * 300000) + b']'`,
  'maps of maps': `b'[' + b','.join([b'{"$type":"Map","value":[[{"$type":"Map","value":[]},1]]}'] * 200000) + b']'`,
}

/** Values, which the host parses and decodes. */
export const costlyValues: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(wide).map(([name, body]) => [name, `${frames}\nsend(value(${body}))\nos._exit(0)`]),
)

const repeated = {
  'lists of 1,000 KiB again and again': `one = value(b'[' + b'[],' * 333000 + b'1]')\nfor _ in range(30): send(one)`,
  'lists of 16 KiB again and again': `one = value(b'[' + b'[],' * 5000 + b'1]') * 20\nwhile True: send(one)`,
  'sets of 16 KiB that collide, again and again': `one = value(b'{"$type":"Set","value":' + str(colliding(1200)).encode() + b'}') * 20\nwhile True: send(one)`,
  logs: `one = frame(b'{"type":"log","level":"log","text":"x"}') * 1000\nwhile True: send(one)`,
  'displays of many types': `one = frame(b'{"type":"display","bundle":{' + b','.join(b'"k%d":"v"' % i for i in range(100000)) + b'}}')\nwhile True: send(one)`,
  'no messages': `one = frame(b'[]') * 10000\nwhile True: send(one)`,
}

/** Endless messages, or nearly endless ones. */
export const costlyFloods: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(repeated).map(([name, code]) => [name, `${frames}\n${code}\nos._exit(0)`]),
)

const called = {
  'one call with a text of escapes': `send(call(b'"' + b'\\\\n' * 7000000 + b'"'))\ntime.sleep(2)\nos._exit(0)`,
  'one call with half a million lists': `send(call(b'[' + b'[],' * 500000 + b'1]'))\ntime.sleep(2)\nos._exit(0)`,
  'one call with 200,000 records': `send(call(b'[' + b'{"id":1234567,"name":"a name of some length","ok":true},' * 200000 + b'1]'))\ntime.sleep(2)\nos._exit(0)`,
  'one call with many texts': `send(call(b'[' + b'"abcdefghijklmnop",' * 700000 + b'1]'))\ntime.sleep(2)\nos._exit(0)`,
  'one call with 40,000 sets in a map': `send(call(b'{"$type":"Map","value":[' + b','.join([b'[%d,{"$type":"Set","value":[1,2,3]}]' % i for i in range(40000)]) + b']}'))\ntime.sleep(2)\nos._exit(0)`,
  'small calls': `one = call(b'1') * 1000\nwhile True: send(one)`,
  'sets that collide, in every call': `one = call(b'{"$type":"Set","value":' + str(colliding(1200)).encode() + b'}') * 20\nwhile True: send(one)`,
  'lists in every call': `one = call(b'[' + b'[],' * 5000 + b'1]') * 20\nwhile True: send(one)`,
  'unknown functions': `one = call(b'1').replace(b'echo', b'none') * 1000\nwhile True: send(one)`,
}

/** Calls of a function `echo`; a thread reads the answers. */
export const costlyCalls: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(called).map(([name, code]) => [
    name,
    `${frames}\nthreading.Thread(target=drain, daemon=True).start()\n${code}`,
  ]),
)

/** Ten megabytes that are not UTF-8. */
export const costlyOutput: Readonly<Record<string, string>> = {
  'bytes that are no text': `import sys\nsys.stdout.buffer.write(b'a\\xff' * 5000000)`,
  'halves of characters': `import sys\nsys.stdout.buffer.write(b'\\xe2\\x82' * 5000000)`,
}
