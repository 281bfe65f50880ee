/**
 * Provides access to a resource whose stored version must be converted by a webhook. The verbs use
 * it like any other access.
 */
import { type KubeObject, omit } from '../../../api/object.ts'
import { assert } from '../../../lib/errors.ts'
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import type { Item, Matches } from '../../../storage/cache/item.ts'
import type { Freshness } from '../../../storage/cache/fresh-state.ts'
import type { ObjectReader } from '../../../storage/cache/reader.ts'
import type { ListResult } from '../../../storage/cache/store-lists.ts'
import { encodeStored, markOutdated, printWire } from '../../../objects/codec/object.ts'
import { apiVersionOf, type Resource } from '../../../registry/resource.ts'
import type {
  Current,
  Decision,
  ObjectStore,
  StoredValue,
  UpdateOptions,
  UpdateResult,
} from '../../../storage/store.ts'
import { keyAfter, type KeyRange } from '../../../storage/keys.ts'
import type { WatchAccess, WriteAccess } from '../access.ts'
import { ConvertedWatch } from './converted-watch.ts'
import type { Converter } from './converter.ts'

type Access = WriteAccess & WatchAccess

/**
 * Creates the access. `stored` is the resource in the version in which objects are written. Its
 * access returns objects in the versions in which they were written.
 */
export function convertedAccess(
  own: Access,
  stored: { readonly resource: Resource; readonly access: Access },
  converter: Converter,
): Access {
  const store = new ConvertedStore(stored, converter)
  return {
    ...own,
    reader: convertedReader(stored.access.reader, converter),
    storage: { ...own.storage, store, readBack: store.readBack },
  }
}

function convertedReader(reader: ObjectReader, converter: Converter): ObjectReader {
  return {
    get: async (key, at) => {
      const { revision, item } = await reader.get(key, at)
      const [converted] = item === undefined ? [] : await converter.items([item])
      return { revision, item: converted }
    },
    list: async (range, at, selection) => {
      const { matches, limit = 0 } = selection ?? {}
      if (matches !== undefined)
        return listSelected({ reader, converter, range }, at, { matches, limit })
      const page = await reader.list(range, at, { limit })
      return { ...page, items: await converter.items(page.items) }
    },
    watch: async (options) =>
      new ConvertedWatch(
        await reader.watch({ ...options, matches: undefined, by: undefined }),
        converter,
        options.matches,
      ),
    expect: () => undefined,
    known: () => undefined,
  }
}

/** Page size of a list with a selector. */
const LOOKED_AT_ONCE = 500

type ConvertedSource = {
  readonly reader: ObjectReader
  readonly converter: Converter
  readonly range: KeyRange
}
type ItemFilter = { readonly matches: Matches; readonly limit: number }

/**
 * Lists the objects that a selector matches. Selectors are evaluated on converted objects, so pages
 * are read and converted until the limit is reached.
 */
async function listSelected(
  { reader, converter, range }: ConvertedSource,
  at: Freshness,
  { matches, limit }: ItemFilter,
): Promise<ListResult> {
  const items: Item[] = []
  let from = range.from
  let state = at
  for (;;) {
    const page = await reader.list({ from, to: range.to }, state, { limit: LOOKED_AT_ONCE })
    const { revision } = page
    for (const item of await converter.items(page.items)) {
      if (limit > 0 && items.length === limit) return { revision, items, more: true, remaining: 0 }
      if (matches(item)) items.push(item)
    }
    const last = page.items.at(-1)
    if (!page.more || last === undefined) return { revision, items, more: false, remaining: 0 }
    if (limit > 0 && items.length === limit) return { revision, items, more: true, remaining: 0 }
    from = keyAfter(last.key)
    state = { exactly: revision }
  }
}

class ConvertedStore implements ObjectStore {
  readonly #stored: { readonly resource: Resource; readonly access: Access }
  readonly #converter: Converter
  /**
   * Maps the bytes that a verb passed to this store to the converted bytes that were stored. The
   * converted bytes are retained so that the response needs no second conversion.
   */
  readonly #storedAs = new WeakMap<Buffer, Buffer>()

  constructor(
    stored: { readonly resource: Resource; readonly access: Access },
    converter: Converter,
  ) {
    this.#stored = stored
    this.#converter = converter
  }

  get: ObjectStore['get'] = async (key, options) => {
    const { revision, found } = await this.#stored.access.storage.store.get(key, options)
    if (found === undefined) return { revision, found }
    const object = await this.#converter.object(this.#stored.access.storage.decode(found))
    // The value is in the form that clients receive. The decoder of the resource also accepts this
    // form, in addition to the stored form.
    return {
      revision,
      found: { ...found, value: printWire(object, this.#converter.resource.shape).bytes },
    }
  }

  /** Deletes an object that cannot be decoded in its stored version. The webhook is not called. */
  deleteUnreadable: ObjectStore['deleteUnreadable'] = async (key, _decode, options) => {
    const { store, decode } = this.#stored.access.storage
    return store.deleteUnreadable(key, decode, options)
  }

  create: ObjectStore['create'] = async (key, value, options) =>
    this.#stored.access.storage.store.create(key, await this.#toStored(value), options)

  async update<T>(
    key: string,
    options: UpdateOptions<T>,
    decide: (current: Current<T> | undefined) => MaybePromise<Decision>,
  ): Promise<UpdateResult<T>> {
    const { access } = this.#stored
    let last: Current<T> | undefined
    const result = await access.storage.store.update<T | Raw>(
      key,
      { ...options, decode: (stored) => new Raw(copied(stored)) },
      async (current) => {
        last = current && (await this.#current(current, options.decode))
        const decision = await decide(last)
        return typeof decision === 'object'
          ? { ...decision, put: await this.#toStored(decision.put) }
          : decision
      },
    )
    return { ...result, previous: result.previous === undefined ? undefined : last }
  }

  /**
   * Returns the object for the response to a write. The object is converted to the stored version,
   * gets the defaults of that version, and is converted back.
   */
  readonly readBack = async (value: Buffer): Promise<KubeObject> => {
    const stored = this.#storedAs.get(value) ?? (await this.#toStored(value))
    return this.#converter.object(this.#decode(stored))
  }

  async #current<T>(
    current: Current<T | Raw>,
    decode: UpdateOptions<T>['decode'],
  ): Promise<Current<T>> {
    const { object } = current
    if (!(object instanceof Raw)) return { ...current, object }
    const { stored } = object
    const read = this.#stored.access.storage.decode(stored)
    const { shape } = this.#converter.resource
    const converted = await decode({
      ...stored,
      value: printWire(await this.#converter.object(read), shape).bytes,
    })
    if (read.apiVersion !== shape.custom?.storedVersion && isObject(converted))
      markOutdated(converted)
    return { ...current, object: converted }
  }

  async #toStored(value: Buffer): Promise<Buffer> {
    const { resource } = this.#stored
    const object = this.#decode(value)
    assert(
      object.apiVersion === apiVersionOf(this.#converter.resource),
      'objects are written in the version of the path',
    )
    const stored = encodeStored(await this.#converter.toStored(object, resource), resource.shape)
    this.#storedAs.set(value, stored)
    return stored
  }

  /** Decodes a value that is not stored yet and therefore has no resourceVersion. */
  #decode(value: Buffer): KubeObject {
    const object = this.#stored.access.storage.decode({
      key: '',
      value,
      revision: 0,
      createRevision: 0,
      stale: false,
    })
    return { ...object, metadata: omit(object.metadata, 'resourceVersion') }
  }
}

/** A stored value that has not been converted yet. */
class Raw {
  readonly stored: StoredValue

  constructor(stored: StoredValue) {
    this.stored = stored
  }
}

const copied = (stored: StoredValue): StoredValue => ({
  ...stored,
  value: Buffer.from(stored.value),
})

const isObject = (value: unknown): value is KubeObject =>
  typeof value === 'object' && value !== null
