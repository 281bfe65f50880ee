import { systemTimers, type Timer, type Timers } from '../lib/timers.ts'
import type { Registry } from '../registry/registry.ts'

/** Definitions come by the hundred, and each look at all resources takes as long as there are many. */
const TOGETHER_MS = 100

/** Calls back soon after the registry has changed, once for changes that come together. */
export function onRegistryChange(
  registry: Pick<Registry, 'onChange'>,
  changed: () => void,
  timers: Pick<Timers, 'after'> = systemTimers,
): Disposable {
  let timer: Timer | undefined
  const listening = registry.onChange(() => {
    timer ??= timers.after(TOGETHER_MS, () => {
      timer = undefined
      changed()
    })
  })
  return {
    [Symbol.dispose]: () => {
      listening[Symbol.dispose]()
      timer?.close()
    },
  }
}
