/** Delivers logs and displays to the caller, in order with the output. */
import type { RunHandles } from '../../core/request.ts'
import type { Capture } from '../../result/capture.ts'
import type { ChannelListener } from './channel-listener.ts'

export interface EventHandles {
  readonly onLog?: RunHandles['onLog'] | undefined
  readonly onDisplay?: RunHandles['onDisplay'] | undefined
  readonly onClear?: RunHandles['onClear'] | undefined
}

export function tellCaller(
  capture: Capture,
  { onLog, onDisplay, onClear }: EventHandles,
): Pick<ChannelListener, 'onLog' | 'onDisplay' | 'onClear'> {
  return {
    ...(onLog !== undefined && {
      onLog: (entry) => capture.tell(entry.text.length, () => onLog(entry)),
    }),
    ...(onDisplay !== undefined && {
      onDisplay: (bundle, facts) => capture.tell(lengthOf(bundle), () => onDisplay(bundle, facts)),
    }),
    ...(onClear !== undefined && { onClear: (waits) => capture.tell(0, () => onClear(waits)) }),
  }
}

/** Whether the caller has any of these listeners. If so, messages on the channel wait for the caller, as output does. */
export function hasListeners({ onLog, onDisplay, onClear }: EventHandles): boolean {
  return onLog !== undefined || onDisplay !== undefined || onClear !== undefined
}

function lengthOf(bundle: Readonly<Record<string, string>>): number {
  return Object.values(bundle).reduce((sum, text) => sum + text.length, 0)
}
