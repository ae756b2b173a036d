/** What this machine offers, what is missing and how to add it, and what runs now. */
import type { LazaretStats } from '../src/engine/api.ts'
import type { ProbeReport } from '../src/jail/machine/probe-report.ts'
import type { Access } from './access.ts'
import { element } from './elements.ts'
import { sayError, type View } from './view.ts'

const everyMs = 2000

export function createMachineView({ lazaret }: Access): View {
  const walls = element('div', { class: 'card' }, element('p', { class: 'muted' }, 'Inspecting the machine…'))
  const work = element('div', { class: 'card', 'aria-live': 'off' })
  let timer: ReturnType<typeof setInterval> | undefined
  const look = async (): Promise<void> => {
    try {
      work.replaceChildren(...showStats(await lazaret.stats()))
    } catch (error) {
      work.replaceChildren(element('p', { class: 'trouble', role: 'alert' }, sayError(error)))
    }
  }
  lazaret.probe().then(
    (report) => walls.replaceChildren(...showProbe(report)),
    (error: unknown) =>
      walls.replaceChildren(element('p', { class: 'trouble', role: 'alert' }, sayError(error))),
  )
  return {
    root: element(
      'section',
      { class: 'page' },
      element('h1', {}, 'Machine'),
      element('div', { class: 'pair' }, walls, work),
    ),
    show: () => {
      void look()
      timer = setInterval(() => void look(), everyMs)
    },
    hide: () => clearInterval(timer),
  }
}

function showProbe({ level, layers, toolchains, kernel }: ProbeReport): HTMLElement[] {
  return [
    element('h2', {}, 'Level ', element('span', { class: `level ${level}` }, level)),
    element('p', { class: 'muted' }, kernel),
    element(
      'ul',
      { class: 'facts' },
      ...layers.map((layer) => {
        const { name, state } = layer
        const more = 'fix' in layer && typeof layer.fix === 'string' ? layer.fix : undefined
        const seen = 'observed' in layer && typeof layer.observed === 'string' ? layer.observed : ''
        const mark = element(
          'span',
          { class: `mark ${state === 'ok' ? 'stood' : 'fell'}` },
          state === 'ok' ? '✓' : '–',
        )
        return element(
          'li',
          {},
          mark,
          element(
            'span',
            {},
            element('strong', {}, name),
            element('span', { class: 'muted' }, ` ${seen || state}`),
            more !== undefined && element('p', {}, more),
          ),
        )
      }),
    ),
    element('h2', {}, 'Interpreters'),
    element(
      'ul',
      { class: 'facts' },
      ...toolchains.map((one) => {
        const version = 'version' in one ? one.version : undefined
        return element(
          'li',
          {},
          element(
            'span',
            { class: `mark ${one.state === 'ok' ? 'stood' : 'fell'}` },
            one.state === 'ok' ? '✓' : '–',
          ),
          element(
            'span',
            {},
            element('strong', {}, one.name),
            element('span', { class: 'muted' }, ` ${version ?? one.state}`),
          ),
        )
      }),
    ),
  ]
}

function showStats({ running, waiting, pools }: LazaretStats): HTMLElement[] {
  const figure = (value: number, label: string): HTMLElement =>
    element(
      'div',
      { class: 'figure' },
      element('strong', {}, String(value)),
      element('span', { class: 'muted' }, label),
    )
  return [
    element('h2', {}, 'Now'),
    element(
      'div',
      { class: 'figures' },
      figure(running, 'running'),
      figure(waiting, 'queued'),
      figure(pools.length, 'pools'),
    ),
    ...pools.map((pool) =>
      element(
        'pre',
        { class: 'small' },
        Object.entries(pool)
          .map(
            ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
          )
          .join('  '),
      ),
    ),
  ]
}
