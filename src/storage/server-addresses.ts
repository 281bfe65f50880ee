/**
 * The addresses at which clients can reach the servers of this etcd. Each address has a record in
 * kube-apiserver's format. A record expires unless its server renews it.
 */
import type { Key } from './engine.ts'
import { rangeOf, serverRecords, toKey, toText } from './keys.ts'
import type { Store, StoredValue } from './store.ts'

/** Lifetime of a record, as in kube-apiserver. A record remains valid if one renewal fails. */
const RECORD_SECONDS = 15

export class ServerAddresses {
  readonly #store: Store
  readonly #folder: Key

  constructor(store: Store, root: Key) {
    this.#store = store
    this.#folder = `${root}${serverRecords.masterLeases}/`
  }

  async renew(address: string, signal: AbortSignal): Promise<void> {
    const put = Buffer.from(`${JSON.stringify(recordOf(address))}\n`)
    const options = {
      decode: ({ value }: StoredValue) => value,
      ttlSeconds: RECORD_SECONDS,
      signal,
    }
    await this.#store.update(this.#keyOf(address), options, () => ({ put }))
  }

  /** Returns the sorted addresses. */
  async list(signal: AbortSignal): Promise<string[]> {
    const { values } = await this.#store.list(rangeOf(this.#folder), { signal })
    return values.map(({ key }) => toText(key.slice(this.#folder.length))).toSorted()
  }

  async remove(address: string): Promise<void> {
    const options = { decode: ({ value }: StoredValue) => value }
    await this.#store.update(this.#keyOf(address), options, (current) =>
      current === undefined ? 'unchanged' : 'delete',
    )
  }

  readonly #keyOf = (address: string): Key => `${this.#folder}${toKey(address)}`
}

const recordOf = (ip: string) => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: { creationTimestamp: null },
  subsets: [{ addresses: [{ ip }] }],
})
