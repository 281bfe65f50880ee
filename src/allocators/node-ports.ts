/**
 * The node ports that Services have, one set for all servers of an etcd: a single value that every change compares and writes. Changes
 * that come while a write is under way go together with the next one, so that a crowd of them costs a few writes.
 */
import type { KubeObject } from '../api/object.ts'
import { fieldsOf, textOf } from '../api/object.ts'
import { decodeStored, encodeStored } from '../codec/object.ts'
import { typeOf } from '../registry/types.ts'
import { plainSchema } from '../schema/object-schema.ts'
import type { Key } from '../storage/engine.ts'
import type { Current, Decision, Store, Stored } from '../storage/store.ts'
import { type PortRange, Ports } from './ports.ts'

/** How long a change may wait for the database. */
const CHANGE_MS_MAX = 15_000

export type NodePortsParts = {
  readonly store: Store
  readonly key: Key
  readonly range: PortRange
  /** From 0 to below 1. */
  readonly random: () => number
}

type Wish = {
  readonly apply: (ports: Ports) => void
  /** Called once the set that `apply` has seen last is stored, or is the latest there is. */
  readonly settle: () => void
  readonly fail: (error: unknown) => void
}

export class NodePorts {
  readonly #parts: NodePortsParts
  #wishes: Wish[] = []
  #isWriting = false
  #last: Current<KubeObject> | undefined

  constructor(parts: NodePortsParts) {
    this.#parts = parts
  }

  /**
   * Changes the set. What `change` throws is thrown here and leaves the set as it was; `change` may run several times, on other sets.
   * It must neither wait nor keep the set.
   */
  change<T>(change: (ports: Ports) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let outcome: { readonly value: T } | { readonly error: unknown } | undefined
      this.#wishes.push({
        apply: (ports) => {
          outcome = undefined
          try {
            outcome = { value: change(ports) }
          } catch (error) {
            outcome = { error }
            throw error
          }
        },
        settle: () => {
          if (outcome !== undefined && 'value' in outcome) resolve(outcome.value)
          else reject(outcome?.error ?? new Error('broken invariant: a change that was not applied'))
        },
        fail: reject,
      })
      if (!this.#isWriting) void this.#writeAll()
    })
  }

  /** What a change would come to, without changing anything. */
  async attempt<T>(change: (ports: Ports) => T): Promise<T> {
    const { found } = await this.#parts.store.get(this.#parts.key)
    return change(this.#portsOf(found && this.#decode(found)))
  }

  /** Never fails: whoever waits is told. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Who comes in the same turn goes along.
    await Promise.resolve()
    while (this.#wishes.length > 0) {
      const wishes = this.#wishes
      this.#wishes = []
      try {
        await this.#write(wishes)
        for (const { settle } of wishes) settle()
      } catch (error) {
        this.#last = undefined
        for (const { fail } of wishes) fail(error)
      }
    }
    this.#isWriting = false
  }

  async #write(wishes: readonly Wish[]): Promise<void> {
    const { store, key } = this.#parts
    let written: KubeObject | undefined
    const signal = AbortSignal.timeout(CHANGE_MS_MAX)
    const options = { cached: this.#last, decode: (stored: Stored) => this.#decode(stored), signal }
    const { revision, outcome } = await store.update(key, options, (current): Decision => {
      const ports = this.#portsOf(current?.object)
      const before = ports.bits
      const after = wishes.reduce((set, { apply }) => attemptOn(set, apply, this.#copy), ports).bits
      written = this.#objectOf(after)
      if (current !== undefined && after === before) return 'unchanged'
      return { put: encodeStored(written, rangeSchema()) }
    })
    if (written !== undefined && outcome === 'put') {
      this.#last = { revision, createRevision: revision, object: written, stale: false }
    }
  }

  readonly #copy = (bits: bigint): Ports => new Ports(this.#parts.range, bits, this.#parts.random)

  readonly #decode = ({ value, revision }: Stored): KubeObject => decodeStored(value, rangeSchema(), revision)

  /** Where the range was another one, the ports that both have stay taken. */
  #portsOf(stored: KubeObject | undefined): Ports {
    const { first, last } = this.#parts.range
    const { range, data } = fieldsOf(stored)
    const bits = bitsOf(textOf(data))
    const [was = first] = textOf(range).split('-').map(Number)
    const shifted = was === first || !Number.isInteger(was) ? bits : shift(bits, was - first)
    const all = (1n << BigInt(last - first + 1)) - 1n
    return this.#copy(shifted & all)
  }

  #objectOf(bits: bigint): KubeObject {
    const { first, last } = this.#parts.range
    return {
      kind: 'RangeAllocation',
      apiVersion: 'v1',
      metadata: {},
      range: `${first}-${last}`,
      data: textOfBits(bits),
    }
  }
}

const rangeSchema = (): ReturnType<typeof plainSchema> => plainSchema(typeOf('server/v1', 'RangeAllocation'))

/** The set with the change, or as it was if the change cannot be made. */
function attemptOn(ports: Ports, apply: (ports: Ports) => void, copy: (bits: bigint) => Ports): Ports {
  const before = ports.bits
  try {
    apply(ports)
    return ports
  } catch {
    // Who asked for the change is told.
    return copy(before)
  }
}

const shift = (bits: bigint, by: number): bigint => (by >= 0 ? bits << BigInt(by) : bits >> BigInt(-by))

/** Base64 of the number's bytes, highest first, without zeros before them. */
function bitsOf(data: string): bigint {
  const hex = Buffer.from(data, 'base64').toString('hex')
  return hex === '' ? 0n : BigInt(`0x${hex}`)
}

function textOfBits(bits: bigint): string {
  if (bits === 0n) return ''
  const hex = bits.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64')
}
