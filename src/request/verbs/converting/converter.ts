/**
 * Converts objects between the stored version and the version of a request by calling a webhook.
 * Each object is converted once for all requests: concurrent requests wait for the conversion, and
 * later requests get the result from the cache.
 */
import type { KubeObject } from '../../../api/object.ts'
import { LateFrames } from '../../../storage/cache/event.ts'
import { Item, type ItemHome } from '../../../storage/cache/item.ts'
import type { EvictionQueue } from '../../../storage/cache/eviction-queue.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { apiVersionOf, type Resource } from '../../../registry/resource.ts'
import type { Key, Revision } from '../../../storage/engine.ts'
import type { ConversionWebhook, Originals } from './conversion.ts'
import { ConvertedItem, type ConvertedItems, Owner } from './converted-items.ts'

/**
 * Limits of one ConversionReview. A review within these limits is serialized and parsed in a few
 * milliseconds, and any webhook accepts it. A larger object is sent alone. A batch of watch events
 * usually fits into one review, because it has 256 KB, plus the rest of the last object.
 */
const REVIEW_BYTES_MAX = 288 << 10
const REVIEW_OBJECTS_MAX = 500
/**
 * Maximum number of concurrent reviews of one request. It is large enough to hide the latency of
 * the webhook, and leaves capacity for other requests.
 */
const REVIEWS_MAX = 4

export type ConverterOptions = {
  readonly webhook: Pick<ConversionWebhook, 'convert'>
  readonly kept: ConvertedItems
  /** Stores the bytes of converted objects. */
  readonly home: ItemHome
  /** Caches the frames of converted events for a short time. */
  readonly frames: EvictionQueue
  readonly database: Database
}

/**
 * Identity of the database. In another database, or in a database that was restored from a backup,
 * the same key and revision can refer to a different object. Until `isSettled` returns true,
 * requests might still use objects of the previous database.
 */
export type Database = {
  /** Returns a number that changes when the database is replaced. */
  readonly life: () => number
  readonly isSettled: () => boolean
}

export class Converter {
  readonly resource: Resource
  /** Frames of converted events, shared by all watches. */
  readonly frames: LateFrames
  readonly #webhook: ConverterOptions['webhook']
  readonly #kept: ConvertedItems
  readonly #owner = new Owner()
  readonly #home: ItemHome
  /**
   * Objects that are being converted, by key and revision. The maps are nested. Otherwise, hundreds
   * of waiting requests would each create a string with the key and the revision.
   */
  readonly #coming = new Map<Key, Map<Revision, PendingReview>>()
  readonly #database: Database
  /** The value of `life` for the database of the cached objects. */
  #life: number
  /** Items that are stored in the version of the resource and need no conversion. */
  readonly #fitting = new WeakSet<Item>()

  constructor(resource: Resource, { webhook, kept, home, frames, database }: ConverterOptions) {
    this.resource = resource
    this.frames = new LateFrames(frames)
    this.#webhook = webhook
    this.#kept = kept
    this.#home = home
    this.#database = database
    this.#life = database.life()
  }

  /**
   * Returns the items converted to the version of the resource. Fails if one of them cannot be
   * converted.
   */
  async items(items: readonly Item[]): Promise<readonly Item[]> {
    // Read the identity of the database first. While a long list is being converted, the database
    // can be replaced, and requests can finish using objects of the previous database.
    const life = this.#database.life()
    const reviews = reviewsOf(items)
    if (reviews.length === 1) return this.#some(items, life)
    const converted: (readonly Item[])[] = []
    const left = reviews.entries()
    const slices = new Slices()
    const work = async (): Promise<void> => {
      for (const [at, review] of left) {
        converted[at] = await this.#some(review, life)
        if (slices.isOver) await slices.turn()
      }
    }
    const ends = await Promise.allSettled(
      Array.from({ length: Math.min(REVIEWS_MAX, reviews.length) }, work),
    )
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    return converted.flat()
  }

  /** Returns the object converted to the version of the resource. */
  async object(object: KubeObject): Promise<KubeObject> {
    if (object.apiVersion === apiVersionOf(this.resource)) return object
    const [converted] = await this.#convert([object])
    return converted ?? object
  }

  /** Converts an object from the version of the resource to the stored version. */
  async toStored(object: KubeObject, stored: Resource): Promise<KubeObject> {
    const apiVersion = apiVersionOf(stored)
    if (object.apiVersion === apiVersion) return object
    const [converted] = await this.#webhook.convert(
      [object],
      apiVersion,
      this.resource.shape.struct,
    )
    return converted === undefined
      ? object
      : (stored.shape.custom?.prune(converted).object ?? converted)
  }

  /**
   * Removes the cached objects. Called when the CustomResourceDefinition has changed. Conversions
   * in progress can finish.
   */
  close(): void {
    this.#kept.end(this.#owner)
  }

  async #some(items: readonly Item[], life: number): Promise<readonly Item[]> {
    const known = items.map((item) => this.#known(item))
    if (known.every((one) => one instanceof Item)) return known
    // A batch of events can contain an object twice: as the state after one change, and as the
    // state before the next.
    const missing = [...new Set(items.filter((_, at) => known[at] === undefined))]
    // Send the review before the first await, so that no other request starts to convert the same
    // objects.
    const sent = missing.length === 0 ? noneYet : this.#review(missing, life)
    // Wait for one promise per review instead of one per object. A hundred watches that wait for
    // the same objects would otherwise create thousands of promises.
    const reviews = new Set(known.filter(isComing))
    const made = await Promise.all([
      sent,
      ...[...reviews].map(({ review }) => review.catch(() => noneYet)),
    ])
    const find = (item: Item): Item | undefined => {
      const kept = this.#kept.get(this.#owner, item)
      if (kept !== undefined) return kept
      const id = idOf(item)
      for (const review of made) if (review.has(id)) return review.get(id)
      return undefined
    }
    const found = items.map((item, at) => (known[at] instanceof Item ? known[at] : find(item)))
    if (found.every((one) => one !== undefined)) return found
    const again = await this.#again(
      [...new Set(items.filter((_, at) => found[at] === undefined))],
      life,
    )
    return items.map((item, at) => found[at] ?? again.get(idOf(item)) ?? item)
  }

  /**
   * Returns the converted item. If another request is converting the item, returns the pending
   * review that contains it.
   */
  #known(item: Item): Item | PendingReview | undefined {
    if (this.#fitting.has(item)) return item
    this.#followDatabase()
    const kept = this.#kept.get(this.#owner, item)
    if (kept !== undefined) return kept
    const coming = this.#coming.get(item.key)?.get(item.revision)
    return coming?.items.has(item) || this.#database.isSettled() ? coming : undefined
  }

  #followDatabase(): void {
    const life = this.#database.life()
    if (life === this.#life) return
    this.#life = life
    this.#kept.deleteAll(this.#owner)
    this.#coming.clear()
  }

  /**
   * Converts items again after the review of another request has failed. The failure might have
   * been caused by an object that is not among these items, so they are sent in a separate review.
   * If another waiting request has already sent a review with exactly these items, that review is
   * used.
   */
  async #again(items: readonly Item[], life: number): Promise<ReviewedItems> {
    const known = new Map(items.map((item) => [item, this.#known(item)]))
    const kept = items.flatMap((item) => known.get(item) ?? [])
    const ready = new Map(kept.filter((one) => one instanceof Item).map((one) => [idOf(one), one]))
    const left = items.filter((item) => !ready.has(idOf(item)))
    const reviews = Map.groupBy(left, (item) => known.get(item))
    const areJustThese = [...reviews].every(
      ([one, own]) => isComing(one) && one.items.size === own.length,
    )
    const coming = [...reviews.keys()].filter(isComing).map(({ review }) => review)
    const made = await Promise.all(areJustThese ? coming : [this.#review(left, life)])
    return new Map([...ready, ...made.flatMap((review) => [...review])])
  }

  async #review(items: readonly Item[], life: number): Promise<ReviewedItems> {
    const wanted = apiVersionOf(this.resource)
    const objects = new Map(items.map((item) => [item, item.peek()]))
    const groups = Map.groupBy(items, (item) => objects.get(item)?.apiVersion)
    const fitting = groups.get(wanted) ?? []
    for (const item of fitting) this.#fitting.add(item)
    groups.delete(wanted)
    const sent = [...groups.values()].map((group) =>
      this.#send(group, life, (item) => objects.get(item) ?? item.peek()),
    )
    // The reviews have been serialized, so release the objects. If requests retained them while
    // waiting, V8 would promote the objects to the old generation.
    objects.clear()
    const made = [new Map(fitting.map((item) => [idOf(item), item])), ...(await Promise.all(sent))]
    return new Map(made.flatMap((review) => [...review]))
  }

  /** Sends one review. All items must have the same version. */
  #send(
    items: readonly Item[],
    life: number,
    objectOf: (item: Item) => KubeObject,
  ): Promise<ReviewedItems> {
    const originals: Originals = {
      length: items.length,
      at: (index) => {
        const item = items[index]
        return item && objectOf(item)
      },
    }
    const review = this.#convert(originals)
      .then((converted) => {
        const made = items.map((item, at) => {
          const object = converted[at]
          return [idOf(item), object === undefined ? item : this.#keep(item, object, life)] as const
        })
        return new Map(made)
      })
      .finally(() => {
        for (const item of items) this.#removePending(item, coming)
      })
    const coming: PendingReview = { items: new Set(items), review }
    for (const { key, revision } of items) {
      const revisions = this.#coming.get(key)
      if (revisions === undefined) this.#coming.set(key, new Map([[revision, coming]]))
      else revisions.set(revision, coming)
    }
    return review
  }

  #removePending({ key, revision }: Item, coming: PendingReview): void {
    const revisions = this.#coming.get(key)
    if (revisions?.get(revision) !== coming) return
    revisions.delete(revision)
    if (revisions.size === 0) this.#coming.delete(key)
  }

  #keep(item: Item, object: KubeObject, life: number): Item {
    const converted = new ConvertedItem(this.#home, item)
    // Serialize the object now, because most readers need only its bytes.
    converted.setBytes(object, this.#home.codec.print(object))
    this.#followDatabase()
    this.#kept.add(this.#owner, converted, life === this.#life && this.#database.isSettled())
    return converted
  }

  /**
   * Converts objects that all have the same version. The webhook's result is pruned, but not
   * validated.
   */
  async #convert(objects: Originals): Promise<readonly KubeObject[]> {
    const { shape } = this.resource
    const converted = await this.#webhook.convert(
      objects,
      apiVersionOf(this.resource),
      shape.struct,
    )
    return converted.map((object) => shape.custom?.prune(object).object ?? object)
  }
}

/** Items that a review has converted, keyed by revision and key. */
type ReviewedItems = ReadonlyMap<string, Item>

type PendingReview = { readonly items: ReadonlySet<Item>; readonly review: Promise<ReviewedItems> }

const isComing = (known: Item | PendingReview | undefined): known is PendingReview =>
  known !== undefined && !(known instanceof Item)

const noneYet: ReviewedItems = new Map()

const idOf = ({ key, revision }: Item): string => `${revision} ${key}`

/**
 * Divides items into groups, each of which fits into one review. The order of the items is
 * preserved.
 */
function reviewsOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const reviews: (readonly Item[])[] = []
  let from = 0
  let at = 0
  let bytes = 0
  for (const { length } of items) {
    if (at > from && (bytes + length > REVIEW_BYTES_MAX || at - from === REVIEW_OBJECTS_MAX)) {
      reviews.push(items.slice(from, at))
      from = at
      bytes = 0
    }
    bytes += length
    at++
  }
  if (from < items.length) reviews.push(from === 0 ? items : items.slice(from))
  return reviews
}
