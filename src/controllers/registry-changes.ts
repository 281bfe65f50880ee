import { Restores } from '../lib/concurrency/restores.ts'
import { systemTimers, type Timer, type Timers } from '../lib/time/timers.ts'
import type { Registry } from '../registry/registry.ts'

/**
 * Definitions come by the hundred, and each look at all resources takes as long as there are many.
 */
const TOGETHER_MS = 100

/** Calls back soon after the registry has changed, once for changes that come together. */
export function onRegistryChange(
  registry: Pick<Registry, 'onChange'>,
  changed: () => void,
  timers: Pick<Timers, 'after'> = systemTimers,
): Disposable {
  let timer: Timer | undefined
  const flush = (): void => {
    if (timer === undefined) return
    timer.close()
    timer = undefined
    changed()
  }
  const listening = registry.onChange(() => {
    timer ??= timers.after(TOGETHER_MS, flush)
  })
  const restored = Restores.current()?.follow({ latest: async () => flush() })
  return {
    [Symbol.dispose]: () => {
      restored?.[Symbol.dispose]()
      listening[Symbol.dispose]()
      timer?.close()
    },
  }
}
