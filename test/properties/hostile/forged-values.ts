/** Values that a guest may write directly to the channel: with tags that are wrong, misleading or expensive. */
import { anything, type HostileRow, nothing } from './hostile-value.ts'

const cut = { isCut: true }
const repeat = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join()
/** An object that only looks like a tag stays an object. */
const plain = (json: string, title = json): HostileRow => [
  title.slice(0, 80),
  json,
  JSON.parse(json) as unknown,
]
const bytes = (name: string, value: string) => `{"$type":"${name}","value":${value}}`
const binaries = [
  'ArrayBuffer',
  'DataView',
  'Uint8Array',
  'Float64Array',
  'BigInt64Array',
  'Uint8ClampedArray',
  'bytes',
  'bytearray',
]
const collections = ['Map', 'Set', 'set', 'frozenset', 'tuple']
const texts = ['date', 'time', 'Decimal', 'datetime', 'BigInt']

const tags: readonly HostileRow[] = [
  ...[
    '"toString"',
    '"__proto__"',
    '"constructor"',
    '"hasOwnProperty"',
    '"Function"',
    '"Promise"',
    '"SharedArrayBuffer"',
    '"Buffer"',
    '""',
    'null',
    '5',
    '[]',
    '{}',
    'true',
  ].map((tag) => plain(`{"$type":${tag},"value":1}`)),
  ...binaries.flatMap((name) =>
    ['5', 'null', '[]', '{}', '"!!!!"', '"A"', '"AAAA AAAA"', '"A==="', '"AAA\\u0000"'].map((value) =>
      plain(bytes(name, value)),
    ),
  ),
  ...['Int16Array', 'Float64Array', 'BigUint64Array'].map((name) =>
    plain(bytes(name, '"AAAA"'), `${name} of three bytes`),
  ),
  ...collections.flatMap((name) =>
    ['5', 'null', '{}', '"ab"', '{"0":[1,2],"length":1}'].map((value) => plain(bytes(name, value))),
  ),
  ...['[[1]]', '[[1,2,3]]', '[[]]', '[1]', '["ab"]', '[{"0":1,"1":2,"length":2}]', '[[1,2],[3]]'].map(
    (value) => plain(bytes('Map', value)),
  ),
  ...texts.flatMap((name) => ['5', 'null', '[]', '{}'].map((value) => plain(bytes(name, value)))),
  ...[
    '"x"',
    '"2026"',
    '"Jan 1 2026"',
    '"2026-02-30"',
    '"2026-13-01T00:00:00.000Z"',
    '"2026-01-31T00:00:00.000"',
    '"+999999-01-01T00:00:00.000Z"',
    `"${'1'.repeat(1000)}"`,
    '5',
    '[]',
    '{"toString":1}',
  ].map((value) => plain(bytes('Date', value))),
  ...[
    '"2026-01-31"',
    '"2026-99-99T00:00:00"',
    '"2026-01-31T25:00:00"',
    '"now"',
    `"2026-01-31T00:00:00.${'0'.repeat(1000)}"`,
  ].map((value) => plain(bytes('datetime', value))),
  ...[
    '"1.5"',
    '"1e9"',
    '"1e999999999"',
    '"0x"',
    '"0xg"',
    '"--1"',
    '"+1"',
    '" 1"',
    '"1n"',
    '"0b1"',
    `"${'9'.repeat(4301)}"`,
    '"-"',
    '""',
    '"Infinity"',
  ].map((value) => plain(bytes('BigInt', value))),
  ...[
    '{"$type":"RegExp"}',
    '{"$type":"RegExp","source":"a"}',
    '{"$type":"RegExp","source":5,"flags":""}',
    '{"$type":"RegExp","source":"(","flags":""}',
    '{"$type":"RegExp","source":"a","flags":"gg"}',
    '{"$type":"RegExp","source":"a","flags":"uv"}',
    '{"$type":"RegExp","source":"[","flags":""}',
    '{"$type":"RegExp","source":"\\\\","flags":""}',
  ].map((json) => plain(json)),
  ...[
    '{"$type":"Error"}',
    '{"$type":"Error","name":"Error"}',
    '{"$type":"Error","message":""}',
    '{"$type":"Error","name":{},"message":""}',
    '{"$type":"Error","name":"","message":[]}',
  ].map((json) => plain(json)),
  ...[
    '{"$type":"Unserializable"}',
    '{"$type":"Unserializable","text":5}',
    '{"$type":"Unserializable","text":null}',
  ].map((json) => plain(json)),
  ...[
    '{"$type":"Object"}',
    '{"$type":"Object","value":5}',
    '{"$type":"Object","value":[]}',
    '{"$type":"timedelta","value":"1"}',
    '{"$type":"timedelta"}',
  ].map((json) => plain(json)),
  ['Decimal with a giant exponent', bytes('Decimal', '"1E+999999999999"'), '1E+999999999999'],
  ['complex without parts', '{"$type":"complex"}', { real: undefined, imag: undefined }],
  ['complex of objects', '{"$type":"complex","real":{},"imag":[]}', { real: {}, imag: [] }],
  ['undefined with a value', '{"$type":"undefined","value":1}', undefined],
  ['a hole that lies in no array', '{"a":{"$type":"hole"}}', { a: undefined }],
  ['an array of holes', '[{"$type":"hole"},{"$type":"hole"}]', Array(2)],
  ['two keys of one name', '{"a":1,"a":2}', { a: 2 }],
  ['two tags', '{"$type":"Map","$type":"Set","value":[1]}', new Set([1])],
  ['the tag after its value', '{"value":[1],"$type":"Set"}', new Set([1])],
  ['a tag spelled with escapes', '{"\\u0024type":"Set","value":[]}', new Set()],
  ['a tag with more than it needs', '{"$type":"Set","value":[],"size":5,"add":1}', new Set()],
  ['an integer in hexadecimal with a sign', bytes('BigInt', '"-0xff"'), -255n],
  [
    'an integer of a million digits',
    bytes('BigInt', `"0x${'f'.repeat(1_000_000)}"`),
    (1n << 4_000_000n) - 1n,
  ],
]

const references: readonly HostileRow[] = [
  ...[
    '"x"',
    'null',
    '5',
    '{}',
    '["a"]',
    '[0]',
    '["__proto__"]',
    '["constructor"]',
    '["$type"]',
    '["path"]',
    '["path","length"]',
    '[null]',
    '[1.5]',
    '[-1]',
    '["0"]',
    '[[]]',
    '[{}]',
    '["toString"]',
  ].map((path): HostileRow => [`a Ref to ${path}`, `{"$type":"Ref","path":${path}}`, anything]),
  ['a Ref to itself', '[{"$type":"Ref","path":[0]}]', [{ $type: 'Ref', path: [0] }]],
  ['two Refs to each other', '[{"$type":"Ref","path":[1]},{"$type":"Ref","path":[0]}]', anything],
  ['a Ref to what comes later', '[{"$type":"Ref","path":[1]},{}]', [{ $type: 'Ref', path: [1] }, {}]],
  ['a Ref to a number', '[1,{"$type":"Ref","path":[0]}]', [1, { $type: 'Ref', path: [0] }]],
  ['a Ref to a BigInt', '[{"$type":"BigInt","value":"1"},{"$type":"Ref","path":[0]}]', [1n, 1n]],
  [
    'a Ref to undefined',
    '[{"$type":"undefined"},{"$type":"Ref","path":[0]}]',
    [undefined, { $type: 'Ref', path: [0] }],
  ],
  [
    'a Ref into the middle of a Map',
    '{"$type":"Map","value":[[1,{"$type":"Ref","path":["value",0]}]]}',
    anything,
  ],
  ['a Ref into its own path', '{"$type":"Ref","path":["path"]}', anything],
  [
    'a Ref through __proto__',
    '[{"__proto__":{"a":{}}},{"$type":"Ref","path":[0,"__proto__","a"]}]',
    anything,
  ],
  [
    'a Ref with a path of 100,000 steps',
    `[[],{"$type":"Ref","path":[${repeat(100_000, () => '0')}]}]`,
    anything,
  ],
  ['100,000 Refs to one object', `[${repeat(100_000, () => '{"$type":"Ref","path":[]}')}]`, anything],
  [
    'Refs that double thirty times',
    `[[],${repeat(30, (level) => `[{"$type":"Ref","path":[${level}]},{"$type":"Ref","path":[${level}]}]`)}]`,
    anything,
  ],
  ['a Ref as the key of a Map', '{"$type":"Map","value":[[{"$type":"Ref","path":[]},1]]}', anything],
]

const errors: readonly HostileRow[] = [
  ...[
    '__proto__',
    'constructor',
    'Function',
    'Proxy',
    'toString',
    'AggregateError',
    'SuppressedError',
    'DOMException',
    '\u001b[2J',
    'x'.repeat(10_000),
  ].map((name): HostileRow => [
    `an Error called ${JSON.stringify(name).slice(0, 40)}`,
    JSON.stringify({ $type: 'Error', name, message: '' }),
    anything,
  ]),
  [
    'an Error with properties that are its methods',
    '{"$type":"Error","name":"Error","message":"m","properties":{"toString":1,"constructor":2,"__proto__":{"polluted":1},"stack":3,"message":4,"name":5}}',
    anything,
  ],
  [
    'an Error with a stack that is no text',
    '{"$type":"Error","name":"Error","message":"m","stack":{}}',
    anything,
  ],
  [
    'an Error with errors that are no list',
    '{"$type":"Error","name":"AggregateError","message":"m","errors":{}}',
    anything,
  ],
  [
    'an Error with a cause that is itself',
    '{"$type":"Error","name":"Error","message":"m","cause":{"$type":"Ref","path":[]}}',
    anything,
  ],
  [
    '200,000 errors',
    `[${repeat(200_000, () => '{"$type":"Error","name":"TypeError","message":""}')}]`,
    anything,
  ],
]

const prototypes: readonly HostileRow[] = [
  '{"__proto__":{"polluted":1}}',
  '[{"__proto__":{"polluted":1}}]',
  '{"a":{"b":{"__proto__":{"polluted":1}}}}',
  '{"__proto__":{"__proto__":{"polluted":1}}}',
  '{"__proto__":null}',
  '{"__proto__":[]}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"__defineGetter__":1,"__lookupGetter__":2,"hasOwnProperty":3,"toString":4,"valueOf":5}',
  '{"then":1,"toJSON":2,"length":3,"inspect":4}',
].map((json) => plain(json))
const taggedPrototypes: readonly HostileRow[] = [
  [
    '__proto__ in the escape',
    '{"$type":"Object","value":{"__proto__":{"polluted":1}}}',
    JSON.parse('{"__proto__":{"polluted":1}}'),
  ],
  [
    '__proto__ as a key of a Map',
    '{"$type":"Map","value":[["__proto__",{"polluted":1}]]}',
    new Map([['__proto__', { polluted: 1 }]]),
  ],
  ['__proto__ of a tag', '{"$type":"Set","value":[1],"__proto__":{"polluted":1}}', new Set([1])],
  [
    'a tag that only __proto__ has',
    '{"__proto__":{"$type":"Set","value":[1]}}',
    Object.defineProperty({}, '__proto__', { value: new Set([1]), enumerable: true }),
  ],
]

const property = '\\\\p{L}'
const colliding = (index: number) =>
  `{"$type":"BigInt","value":"0x${(index + 1).toString(16)}0000000000000000"}`
const costly: readonly HostileRow[] = [
  [
    'a pattern that would backtrack for ever is not run',
    '{"$type":"RegExp","source":"(a+)+$","flags":""}',
    /(a+)+$/,
  ],
  [
    'a pattern of a megabyte',
    `{"$type":"RegExp","source":"${property.repeat(200_000)}","flags":"u"}`,
    anything,
  ],
  [
    'patterns that are slow to read',
    `[${repeat(2_000, (index) => `{"$type":"RegExp","source":"[${property.repeat(680)}]${index}","flags":"u"}`)}]`,
    anything,
  ],
  [
    'a pattern nested 4,000 times',
    `{"$type":"RegExp","source":"${'(?:'.repeat(1000)}${')'.repeat(1000)}","flags":""}`,
    anything,
  ],
  [
    'a Set of integers in one bucket',
    `{"$type":"Set","value":[${repeat(200_000, colliding)}]}`,
    nothing,
    cut,
  ],
  [
    'a Map of integers in one bucket',
    `{"$type":"Map","value":[${repeat(150_000, (index) => `[${colliding(index)},0]`)}]}`,
    nothing,
    cut,
  ],
  [
    'many small Sets of integers in one bucket',
    `[${repeat(1000, () => `{"$type":"Set","value":[${repeat(64, colliding)}]}`)}]`,
    anything,
  ],
  ['lists 60,000 deep', '['.repeat(60_000) + ']'.repeat(60_000), nothing, cut],
  ['objects 60,000 deep', '{"a":'.repeat(60_000) + '1' + '}'.repeat(60_000), nothing, cut],
  [
    'errors 10,000 deep',
    '{"$type":"Error","name":"","message":"","cause":'.repeat(10_000) + '1' + '}'.repeat(10_000),
    nothing,
    cut,
  ],
  [
    'lists 2,000 deep, as a guest of ours would not send them',
    '['.repeat(2000) + ']'.repeat(2000),
    anything,
    cut,
  ],
  ['Maps 900 deep', '{"$type":"Map","value":[[1,'.repeat(900) + '1' + ']]}'.repeat(900), anything],
  ['lists exactly as deep as may be', '['.repeat(1001) + ']'.repeat(1001), anything],
]

const malformed: readonly HostileRow[] = [
  '',
  '{',
  '[1,]',
  'NaN',
  'undefined',
  "{'a':1}",
  '1e',
  '"\u0001"',
  '01',
  '{"a":1}}',
  'nul',
  '\u0000',
].map((json): HostileRow => [`no JSON: ${JSON.stringify(json)}`, json, nothing])
const odd: readonly HostileRow[] = [
  ['a number beyond all', '1e999', Infinity],
  ['a number below all', '1e-999', 0],
  ['minus zero as JSON has it', '-0', -0],
  ['a lone surrogate', '"\\ud800"', '\ud800'],
  ['a text of NULs', '"\\u0000\\u0000"', '\0\0'],
]

export const forgedValues = {
  tags,
  references,
  errors,
  prototypes: [...prototypes, ...taggedPrototypes],
  costly,
  malformed: [...malformed, ...odd],
}
