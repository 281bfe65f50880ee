/**
 * The providers of a resource, in the order of the configuration. The first one encrypts, and all
 * of them can decrypt. A value is stale unless it was encrypted with the first key of the first
 * provider.
 */
import type { Key } from '../engine.ts'
import { StorageError } from '../errors.ts'
import type { Plain, Transformer } from '../transform.ts'
import { unreadable } from './cipher.ts'
import { unreadableBy } from './failures.ts'
import type { CountTransformation, TransformationMeter } from './metrics.ts'
import { type Provider, startsWith } from './provider.ts'

export type Providers = readonly [Provider, ...Provider[]]

export class ProviderList implements Transformer {
  readonly #providers: readonly Provider[]
  readonly #first: Provider
  readonly #nowMs: (() => number) | undefined
  readonly #countSealed: CountTransformation | undefined
  /** Functions that count decryptions, by the index of the provider. */
  readonly #countOpened: readonly CountTransformation[]

  constructor(providers: Providers, meter?: TransformationMeter) {
    this.#providers = providers
    this.#first = providers[0]
    this.#nowMs = meter?.nowMs
    this.#countSealed = meter?.of('to_storage', providers[0].prefix.toString())
    const countOpened = providers.map(({ prefix }) =>
      meter?.of('from_storage', prefix.toString() || 'identity'),
    )
    this.#countOpened = countOpened.filter((count) => count !== undefined)
  }

  canBeStale(): boolean {
    return true
  }

  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer> {
    return this.#measured(this.#countSealed, () => this.#first.seal(key, plain))
  }

  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain> {
    return this.#open(key, stored, { from: 0, errors: [] })
  }

  #open(key: Key, stored: Buffer, { from, errors }: FailedProviders): Plain | Promise<Plain> {
    for (let at = from; at < this.#providers.length; at++) {
      const provider = this.#providers[at]
      if (provider === undefined || !startsWith(stored, provider.prefix)) continue
      const failed = (error: unknown): void => {
        if (!(error instanceof StorageError)) throw error
        // The identity provider rejects encrypted values. A later provider may be able to decrypt
        // the value.
        if (provider.prefix.length > 0) errors.push(error)
      }
      try {
        const sealed = stored.subarray(provider.prefix.length)
        const opened = this.#measured(this.#countOpened[at], () => provider.open(key, sealed))
        if (!(opened instanceof Promise))
          return at === 0 ? opened : { value: opened.value, stale: true }
        // Copy the bytes, because they are decrypted later and the caller may reuse their memory.
        const kept = Buffer.from(stored)
        return opened.then(
          (plain) => (at === 0 ? plain : { value: plain.value, stale: true }),
          (error: unknown) => {
            failed(error)
            return this.#open(key, kept, { from: at + 1, errors })
          },
        )
      } catch (error) {
        failed(error)
      }
    }
    throw unreadableBy(errors) ?? unreadable('no matching prefix found')
  }

  #measured<T>(count: CountTransformation | undefined, run: () => T | Promise<T>): T | Promise<T> {
    const nowMs = this.#nowMs
    if (nowMs === undefined || count === undefined) return run()
    const startMs = nowMs()
    let result: T | Promise<T>
    try {
      result = run()
    } catch (error) {
      count(nowMs() - startMs, false)
      throw error
    }
    if (!(result instanceof Promise)) {
      count(nowMs() - startMs, true)
      return result
    }
    return result.then(
      (value) => {
        count(nowMs() - startMs, true)
        return value
      },
      (error: unknown) => {
        count(nowMs() - startMs, false)
        throw error
      },
    )
  }
}

type FailedProviders = { readonly from: number; readonly errors: unknown[] }
