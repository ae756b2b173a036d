/**
 * The wall of one run as a drawing: the layers that protected the guest, what each limit allowed, and how it ended.
 */
import { layers as known } from 'lazaret:layers'
import type { Outcome } from '../../src/core/outcome.ts'
import { sayOutcome } from '../../src/core/outcome.ts'
import type { Receipt, Usage } from '../../src/core/receipt.ts'
import { drawing, element } from '../elements.ts'
import { sayBytes, sayTime } from '../quantities.ts'

export interface ShownWall {
  readonly receipt: Receipt
  readonly usage: Usage
  readonly outcome: Outcome
}

export function showWall({ receipt, usage, outcome }: ShownWall): Element[] {
  const stood = new Set(receipt.layers.map(plainName))
  const { protection } = receipt
  const all = protection === 'wasm' ? [...stood].map((name) => ({ name, stops: '' })) : [...known]
  // The receipt may name layers that this page does not know.
  for (const name of stood) if (!all.some((one) => one.name === name)) all.push({ name, stops: '' })
  const shown = all.filter(({ name }) => stood.has(name) || name !== 'warden')
  const count = shown.filter(({ name }) => stood.has(name)).length
  return [
    element(
      'div',
      { class: 'wall-head' },
      element('h2', {}, `${count} layers active`),
      element('span', { class: `level ${protection}` }, protection),
    ),
    draw(shown, stood, outcome),
    element('h3', {}, 'Limits'),
    element('ul', { class: 'limits' }, ...limitsOf(receipt, usage, outcome)),
    timeline(receipt, usage),
    listLayers(shown, stood),
  ]
}

interface Layer {
  readonly name: string
  readonly stops: string
}

/** Removes the version, as in `landlock-7`. */
function plainName(name: string): string {
  return name.replace(/-\d+$/, '')
}

const middle = 180
const innermost = 44
const outermost = 172

function draw(layers: readonly Layer[], stood: ReadonlySet<string>, outcome: Outcome): SVGSVGElement {
  const step = (outermost - innermost) / Math.max(1, layers.length - 1)
  const isGood = outcome.kind === 'completed'
  const rings = layers.map(({ name, stops }, index) => {
    const radius = outermost - index * step
    const isUp = stood.has(name)
    return drawing(
      'rect',
      {
        class: isUp ? 'ring' : 'ring missing',
        x: middle - radius,
        y: middle - radius,
        width: radius * 2,
        height: radius * 2,
        rx: Math.min(radius * 0.42, radius),
        'data-layer': name,
      },
      drawing('title', {}, `${name}${isUp ? '' : ' (not active)'}: keeps the guest from ${stops}`),
    )
  })
  const label = `The guest, inside ${layers.filter(({ name }) => stood.has(name)).length} layers: ${sayOutcome(outcome)}`
  return drawing(
    'svg',
    { class: 'wall', viewBox: `0 0 ${middle * 2} ${middle * 2}`, role: 'img', 'aria-label': label },
    ...rings,
    drawing('circle', { class: isGood ? 'guest good' : 'guest stopped', cx: middle, cy: middle, r: 26 }),
    drawing(
      'text',
      { class: 'guest-mark', x: middle, y: middle + 8, 'text-anchor': 'middle' },
      isGood ? '✓' : '■',
    ),
  )
}

interface Meter {
  readonly label: string
  readonly use: string
  /** From 0 to 1, if usage was measured and has a limit. */
  readonly share: number | undefined
  readonly by: string
  readonly isTouched: boolean
}

function limitsOf(receipt: Receipt, usage: Usage, outcome: Outcome): HTMLElement[] {
  const touched = touchedBy(outcome)
  const meter = (
    name: keyof Receipt['limits'],
    label: string,
    used: number | undefined,
    say: (n: number) => string,
  ): Meter | undefined => {
    const { value, by } = receipt.limits[name]
    if (value === null && used === undefined) return undefined
    return {
      label,
      use: sayUse(used === undefined ? '' : say(used), value === null ? '' : say(value)),
      share: value === null || used === undefined ? undefined : Math.min(1, used / value),
      by,
      isTouched: touched.includes(name),
    }
  }
  const count = (n: number): string => String(n)
  const meters = [
    meter('wallMs', 'Time', usage.wallMs, sayTime),
    meter('cpuMs', 'Processor', usage.cpuMs, sayTime),
    meter('memoryBytes', 'Memory', usage.memoryPeakBytes, sayBytes),
    meter('outputBytes', 'Output', usage.outputBytes, sayBytes),
    meter('processesMax', 'Processes', undefined, count),
    meter('diskBytes', 'Disk', undefined, sayBytes),
    meter('openFilesMax', 'Open files', undefined, count),
  ]
  return meters.filter((one) => one !== undefined).map(showMeter)
}

function touchedBy(outcome: Outcome): readonly string[] {
  if (outcome.kind === 'timed-out') return [outcome.limit === 'wall' ? 'wallMs' : 'cpuMs']
  if (outcome.kind === 'out-of-memory') return ['memoryBytes']
  if (outcome.kind !== 'limit-exceeded') return []
  const names = {
    output: 'outputBytes',
    processes: 'processesMax',
    files: 'openFilesMax',
    disk: 'diskBytes',
    host: 'hostMs',
  }
  return [names[outcome.limit]]
}

function sayUse(used: string, allowed: string): string {
  if (used === '') return `up to ${allowed}`
  return allowed === '' ? `${used}, without a limit` : `${used} of ${allowed}`
}

function showMeter({ label, use, share, by, isTouched }: Meter): HTMLElement {
  const full = isTouched ? 1 : share
  const bar = drawing(
    'svg',
    { class: 'bar', viewBox: '0 0 100 4', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    drawing('rect', { class: 'room', width: 100, height: 4 }),
    drawing('rect', { class: 'taken', width: Math.max((full ?? 0) * 100, 0.8), height: 4 }),
  )
  return element(
    'li',
    { class: isTouched ? 'touched' : '' },
    element('span', { class: 'limit-name' }, label),
    element('span', { class: 'limit-use' }, use),
    element(
      'span',
      { class: 'held' },
      isTouched ? `reached; enforced by ${by}` : by === 'none' ? '' : `enforced by ${by}`,
    ),
    full !== undefined && bar,
  )
}

function timeline({ start, interpreter, runtime }: Receipt, { queuedMs, wallMs }: Usage): HTMLElement {
  const how = {
    cold: 'started for this run',
    parked: 'started ahead in its own cell',
    forked: 'forked ahead of the run',
  }
  const version = interpreter?.version === undefined ? '' : ` ${interpreter.version}`
  return element(
    'p',
    { class: 'muted timeline' },
    `${runtime}${version}, ${how[start]}. ${queuedMs < 1 ? 'Not queued' : `Queued ${sayTime(queuedMs)}`}, ran ${sayTime(wallMs)}.`,
  )
}

function listLayers(layers: readonly Layer[], stood: ReadonlySet<string>): HTMLElement {
  return element(
    'details',
    { class: 'layers', open: true },
    element('summary', {}, 'What each layer keeps the guest from'),
    element(
      'ul',
      { class: 'facts' },
      ...layers.map(({ name, stops }) =>
        element(
          'li',
          {},
          element(
            'span',
            { class: `mark ${stood.has(name) ? 'stood' : 'fell'}` },
            stood.has(name) ? '✓' : '–',
          ),
          element(
            'span',
            {},
            element('strong', {}, name),
            element('span', { class: 'muted' }, ` ${stood.has(name) ? stops : 'not active here'}`),
          ),
        ),
      ),
    ),
  )
}
