import { styleText } from 'node:util'

type Format = 'bold' | 'dim' | 'green' | 'red' | 'yellow'

/** Colours text for `stream`, and only for a terminal whose user did not refuse colours. */
export function paint(format: Format, text: string, stream: { readonly isTTY?: boolean }): string {
  return hasColour(stream) ? styleText(format, text, { validateStream: false }) : text
}

// NO_COLOR counts when it is set to anything but the empty string: https://no-color.org
function hasColour(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb'
}
