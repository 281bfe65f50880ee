/**
 * Blocks real time and real randomness in this process. Code that uses them gets an error, and the
 * stack trace of the use is reported. A simulation that passes under this guard depends only on its
 * seed.
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

/**
 * Installs the guard until it is disposed of. Each use of a blocked function fails, and `onTouch`
 * is called with the stack trace.
 */
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
