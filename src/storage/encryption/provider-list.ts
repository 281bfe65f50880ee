/**
 * The providers of a resource, in the order of the configuration: the first one writes, all of them read. What was not read by the first
 * key of the first provider is stale.
 */
import type { Key } from '../engine.ts'
import { StorageError } from '../errors.ts'
import type { Plain, Transformer } from '../transform.ts'
import { unreadable } from './cipher.ts'
import { unreadableBy } from './failures.ts'
import type { Transformation, TransformationMeter } from './metrics.ts'
import { type Provider, startsWith } from './provider.ts'

export type Providers = readonly [Provider, ...Provider[]]

export class ProviderList implements Transformer {
  readonly #providers: readonly Provider[]
  readonly #first: Provider
  readonly #meter: TransformationMeter | undefined
  readonly #names: readonly string[]

  constructor(providers: Providers, meter?: TransformationMeter) {
    this.#providers = providers
    this.#first = providers[0]
    this.#meter = meter
    this.#names = providers.map(({ prefix }) => prefix.toString())
  }

  canBeStale(): boolean {
    return true
  }

  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer> {
    return this.#measured('to_storage', this.#names[0] ?? '', () => this.#first.seal(key, plain))
  }

  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain> {
    return this.#open(key, stored, { from: 0, errors: [] })
  }

  #open(key: Key, stored: Buffer, { from, errors }: Tried): Plain | Promise<Plain> {
    for (let at = from; at < this.#providers.length; at++) {
      const provider = this.#providers[at]
      if (provider === undefined || !startsWith(stored, provider.prefix)) continue
      const failed = (error: unknown): void => {
        if (!(error instanceof StorageError)) throw error
        // Identity refuses what is encrypted, which a later provider may read.
        if (provider.prefix.length > 0) errors.push(error)
      }
      try {
        const name = this.#names[at] || 'identity'
        const sealed = stored.subarray(provider.prefix.length)
        const opened = this.#measured('from_storage', name, () => provider.open(key, sealed))
        if (!(opened instanceof Promise)) return at === 0 ? opened : { value: opened.value, stale: true }
        // Received bytes are borrowed: what is read later is a copy.
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

  #measured<T>(type: Transformation, name: string, run: () => T | Promise<T>): T | Promise<T> {
    const meter = this.#meter
    if (meter === undefined) return run()
    const startMs = meter.nowMs()
    const count = (isOk: boolean): void => meter.count(type, name, { ms: meter.nowMs() - startMs, isOk })
    let result: T | Promise<T>
    try {
      result = run()
    } catch (error) {
      count(false)
      throw error
    }
    if (!(result instanceof Promise)) {
      count(true)
      return result
    }
    return result.then(
      (value) => {
        count(true)
        return value
      },
      (error: unknown) => {
        count(false)
        throw error
      },
    )
  }
}

type Tried = { readonly from: number; readonly errors: unknown[] }
