/**
 * Whether a text contains another one near its end. A guest chose both. The engine's own `includes` may compare all of
 * the other text at each position, which takes minutes for megabytes that nearly match. This takes linear time.
 */

/** Runtimes print an error last. */
const tailLength = 256 * 1024

export function isPrinted(part: string, text: string): boolean {
  const tail = text.slice(-tailLength)
  if (part.length === 0) return true
  if (part.length > tail.length) return false
  const borders = listBorders(part)
  let matched = 0
  for (let at = 0; at < tail.length; at++) {
    const code = tail.charCodeAt(at)
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0
    if (part.charCodeAt(matched) === code) matched++
    if (matched === part.length) return true
  }
  return false
}

/** For each prefix, the longest shorter prefix that is also its suffix (Knuth, Morris and Pratt). */
function listBorders(part: string): Int32Array {
  const borders = new Int32Array(part.length)
  let length = 0
  for (let at = 1; at < part.length; at++) {
    const code = part.charCodeAt(at)
    while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] ?? 0
    if (part.charCodeAt(length) === code) length++
    borders[at] = length
  }
  return borders
}
