/** A display or a value on a terminal: its text, or a picture where the terminal has a protocol for it. Pure. */
import type { MimeBundle } from '../../../core/output.ts'
import type { ResultImage } from '../../../core/result.ts'
import { findImage } from '../../../result/images.ts'
import { formatSize } from '../options/units.ts'
import { toSingleLine } from '../output/terminal-text.ts'

export type PictureProtocol = 'kitty' | 'iterm' | null

const pictureCharactersMax = 8 * 1024 * 1024
/** The most characters of one escape sequence that kitty accepts. */
const chunkCharacters = 4096

/** None inside a multiplexer, which does not pass them on. */
export function pictureProtocolOf(env: Readonly<Record<string, string | undefined>>): PictureProtocol {
  const { TERM = '', TERM_PROGRAM: program = '', KITTY_WINDOW_ID: kitty } = env
  if (/^(?:tmux|screen)/.test(TERM)) return null
  if (kitty !== undefined || /^xterm-(?:kitty|ghostty)$/.test(TERM)) return 'kitty'
  return ['iTerm.app', 'WezTerm'].includes(program) ? 'iterm' : null
}

export interface ShownBundle {
  /** Guest text. */
  readonly text: string
  /** A control sequence from Lazaret around the picture's bytes, in base64. */
  readonly picture?: string
}

export function showBundle(bundle: MimeBundle, protocol: PictureProtocol): ShownBundle {
  const image = findImage(bundle)
  if (image !== undefined) {
    const picture = drawPicture(image, protocol)
    if (picture !== undefined) return { text: '', picture }
    return { text: `[${image.mimeType}, ${formatSize(Math.floor((image.data.length * 3) / 4))}]` }
  }
  const { 'text/plain': plain, 'text/markdown': markdown } = bundle
  const text = plain ?? markdown
  if (text !== undefined) return { text }
  return {
    text: `[${Object.keys(bundle)
      .map((type) => toSingleLine(type, 100))
      .join(', ')}]`,
  }
}

function drawPicture({ data, mimeType }: ResultImage, protocol: PictureProtocol): string | undefined {
  if (protocol === null || data.length > pictureCharactersMax) return undefined
  if (protocol === 'iterm') return `\x1b]1337;File=inline=1:${data}\x07`
  // The only format that kitty knows.
  if (mimeType !== 'image/png') return undefined
  const chunks = data.match(new RegExp(`.{1,${chunkCharacters}}`, 'g')) ?? []
  return chunks
    .map((chunk, at) => {
      const more = at < chunks.length - 1 ? 1 : 0
      return `\x1b_G${at === 0 ? 'a=T,f=100,' : ''}m=${more};${chunk}\x1b\\`
    })
    .join('')
}
