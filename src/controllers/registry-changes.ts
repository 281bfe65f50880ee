import { Restores } from '../lib/concurrency/restores.ts'
import { systemTimers, type Timer, type Timers } from '../lib/time/timers.ts'
import type { Registry } from '../registry/registry.ts'

/**
 * Changes within this time are handled together. Hundreds of CustomResourceDefinitions can be
 * created at once, and handling a change takes longer the more resources there are.
 */
const TOGETHER_MS = 100

/** Calls `changed` shortly after the registry has changed, once per batch of changes. */
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
