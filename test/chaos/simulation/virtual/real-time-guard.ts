/**
 * Takes real time and real chance away from everything in this process: who asks for them under
 * simulation is told where it did. A simulation that passes under this guard depends on its seed
 * alone.
 */
import timersPromises from 'node:timers/promises'
import { syncBuiltinESMExports } from 'node:module'

type PatchedMethod = { readonly owner: object; readonly name: string }

const taken: readonly PatchedMethod[] = [
  ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({ owner: globalThis, name })),
  ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({ owner: timersPromises, name })),
  { owner: Date, name: 'now' },
  { owner: performance, name: 'now' },
  { owner: Math, name: 'random' },
  { owner: AbortSignal, name: 'timeout' },
  { owner: crypto, name: 'randomUUID' },
  { owner: crypto, name: 'getRandomValues' },
]

/** Until it is disposed of. `onTouch` is told each use; the use itself fails. */
export function guardRealTime(onTouch: (what: string) => void): Disposable {
  const before = taken.map(({ owner, name }) => Object.getOwnPropertyDescriptor(owner, name))
  for (const { owner, name } of taken) {
    const refuse = (): never => {
      const error = new Error(`real time or chance under simulation: ${name}`)
      onTouch(error.stack ?? error.message)
      throw error
    }
    Object.defineProperty(owner, name, { value: refuse, configurable: true, writable: true })
  }
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]: () => {
      for (const [i, { owner, name }] of taken.entries()) {
        const descriptor = before[i]
        if (descriptor === undefined) Reflect.deleteProperty(owner, name)
        else Object.defineProperty(owner, name, descriptor)
      }
      syncBuiltinESMExports()
    },
  }
}
