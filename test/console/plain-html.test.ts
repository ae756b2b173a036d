/** A guest's HTML keeps only its text and the elements of an allowlist. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../support/fast-check.ts'
import { toPlainHtml } from '../../console/run/plain-html.ts'

test('elements for text layout are kept, with the listed attributes', () => {
  for (const [given, written] of [
    [
      '<TABLE border=1 class=dataframe><tr><td colspan="2" onclick=f()>1 &lt; 2</td></tr></TABLE>',
      '<table><tr><td colspan="2">1 &lt; 2</td></tr></table>',
    ],
    ['a < b & c > d &amp; &#x3c; &nosuch', 'a &lt; b &amp; c &gt; d &amp; &#x3c; &amp;nosuch'],
    ['<p>one<br>two</br></p><hr/>', '<p>one<br>two</p><hr>'],
    ['<a href="javascript:x">link</a><img src=x onerror=f()>end', 'linkend'],
    ['<style>td { color: red }</style><script>if (a<b) f("</td>")</script>after', 'after'],
    ['<!-- <b> --><b>bold</b><!-->', '<b>bold</b>'],
    ['<b>bold</b> <i and so on <p>', '<b>bold</b> <i>'],
    ['<b>bold</b> <i and so on', '<b>bold</b> &lt;i and so on'],
    ['1 < 2 <3> </ 4>', '1 &lt; 2 &lt;3&gt; &lt;/ 4&gt;'],
    ['<svg><script>f()</script><p>no</p></svg><p>yes</p>', '<p>yes</p>'],
    ['<p title="a>b" dir=rtl>text', '<p dir="rtl">text'],
    ['<td colspan="2&quot; onclick=f()">', '<td>'],
  ] as const)
    assert.equal(toPlainHtml(given).html, written, given)
})

test('only listed elements and attributes are in the output', () => {
  const piece = fc.constantFrom(
    ...['<', '>', '"', "'", '/', '=', '!', '--', '<!--', '-->', '<b', '<b>', '</b>', '<td ', 'colspan', '2'],
    ...[
      '<script',
      '</script>',
      '<style>',
      '</style>',
      '<img src=x',
      ' onerror=f()',
      '<svg/onload=f()>',
      '&lt;',
    ],
    ...[
      '<a href=x>',
      '<![CDATA[',
      ']]>',
      '<?',
      '\0',
      '\n',
      ' ',
      '&',
      '&#60;',
      '<p/onclick=f()>',
      '<math>',
      '</p>',
    ],
  )
  const own = /<\/?[a-z][a-z0-9]*(?: (?:colspan|rowspan|dir|open)="\w{0,5}")*>/g
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (pieces) => {
      const { html } = toPlainHtml(pieces.join(''))
      assert.doesNotMatch(html.replace(own, ''), /[<>]/)
      assert.doesNotMatch(html, /<\/?(?:a|img|math|script|style|svg)\b/)
    }),
    { numRuns: 2000 },
  )
})

test('a long page is cut, in its text and its number of elements', () => {
  const { html, rows } = toPlainHtml('<p>x</p>'.repeat(500_000))
  assert.ok(html.length < 1_000_000 && rows < 20_100, `${html.length} characters, ${rows} rows`)
  const before = process.cpuUsage()
  for (const hard of [
    '<'.repeat(1e6),
    '<a '.repeat(3e5),
    '<!--'.repeat(2e5),
    `<script>${'</script '.repeat(1e5)}`,
    '<script>'.repeat(1e5),
    '<p a="'.repeat(1e5),
    `<p ${'a '.repeat(4e5)}>`,
    `<p ${' '.repeat(9e5)}>`,
    '<b "'.repeat(2e5),
    '&a'.repeat(5e5),
  ])
    toPlainHtml(hard)
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 5_000_000, `${user + system} µs of processor time`)
})
