/** Accessibility problems of a page, found by axe-core. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

/** Describes each element that violates a rule of serious or critical impact. */
export async function auditPage(page: Page): Promise<string[]> {
  // During a transition a colour may have too little contrast for a moment.
  await page.evaluate(
    'Promise.all(document.getAnimations().map((one) => one.finished.catch(() => undefined)))',
  )
  await page.evaluate(`${axe};0`)
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run({ preload: false })')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}
