import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../support/fast-check.ts'
import {
  showControls,
  showWhole,
  TerminalFilter,
  toSingleLine,
} from '../../../../src/adapters/cli/output/terminal-text.ts'

// eslint-disable-next-line no-control-regex
const obeyed = /\x1b(?!\[[0-9;:]*m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/

test('colours, tabs, new lines and returns reach the terminal', () => {
  const text = '\x1b[1;31mred\x1b[0m\tand\r\n\x1b[38:2::1:2:3mmore\x1b[m'
  assert.equal(showControls(text), text)
})

test('a window title, a cursor move, a clipboard write and a C1 control are shown and have no effect', () => {
  assert.equal(showControls('\x1b]0;owned\x07'), '␛]0;owned␇')
  assert.equal(showControls('\x1b[2J\x1b[H'), '␛[2J␛[H')
  assert.equal(showControls('\x1b]52;c;cm0gLXJm\x1b\\'), '␛]52;c;cm0gLXJm␛\\')
  assert.equal(showControls('\x9b2J\x7f'), '\ufffd2J␡')
})

test('concealed, blinking or remapped text is shown plainly, with its colours', () => {
  assert.equal(showControls('\x1b[8mhidden\x1b[28m'), 'hidden\x1b[28m')
  assert.equal(showControls('\x1b[1;08;31;5mx\x1b[;6m'), '\x1b[1;31mx\x1b[0m')
  assert.equal(showControls('\x1b[11mx\x1b[8:1m\x1b[4:3m'), 'x\x1b[4:3m')
  // The numbers of a colour are not styles.
  const colours = '\x1b[38;5;8m\x1b[48;2;8;5;6m\x1b[38:5:8m\x1b[58;5;8;1m'
  assert.equal(showControls(colours), colours)
  // An incomplete colour does not hide a style.
  const halves = ['38;8', '38;5', '48;2;1;2', '38;4;8', '38;5:8', '38;2;1;2;300;8']
  assert.deepEqual(
    halves.map((half) => showControls(`\x1b[${half}m`)),
    halves.map(() => ''),
  )
  assert.equal(showControls('\x1b[38;5;8;8m'), '\x1b[38;5;8m')
})

test('styles are reset at the end of a text of a guest', () => {
  assert.equal(showWhole('\x1b[30;40mdark'), '\x1b[30;40mdark\x1b[0m')
  assert.equal(showWhole('plain \x1b[8m'), 'plain ')
  assert.equal(showWhole('cut \x1b[3'), 'cut ␛[3')
})

test('a colour that two chunks share is still a colour', () => {
  const filter = new TerminalFilter()
  assert.equal(filter.push('a\x1b['), 'a')
  assert.equal(filter.push('3'), '')
  assert.equal(filter.push('1mb'), '\x1b[31mb')
  assert.equal(filter.end(), '\x1b[0m')
})

test('an endless control sequence is not held back for ever', () => {
  const filter = new TerminalFilter()
  const shown = filter.push('\x1b[') + filter.push('1;'.repeat(100))
  assert.match(shown, /^␛\[1;/)
  assert.equal(new TerminalFilter().end(), '')
  const other = new TerminalFilter()
  other.push('\x1b')
  assert.equal(other.end(), '␛')
})

test('however the text is split, colours are the only control sequences in the output', () => {
  const piece = fc.oneof(
    fc.constantFrom('\x1b', '[', '31', 'm', ';', ']0;', '\x07', '\x9b', '2J', '\n', 'text'),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const filter = new TerminalFilter()
      const shown = pieces.map((text) => filter.push(text)).join('') + filter.end()
      assert.doesNotMatch(shown, obeyed)
    }),
  )
})

test('guest text in a message of Lazaret is one bounded line that cannot be reordered', () => {
  assert.equal(toSingleLine('a\nlazaret: completed\u202e\x1b[2J b'), 'a lazaret: completed [2J b')
  assert.equal(toSingleLine('x'.repeat(500)).length, 401)
})
