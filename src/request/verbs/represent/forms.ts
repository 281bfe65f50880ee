/**
 * Represents the objects of one resource in formats other than JSON. The results are cached for
 * later requests.
 */
import { parseJson } from '../../../api/json-value.ts'
import { fieldsOf, isFields, type Json, type KubeObject } from '../../../api/object.ts'
import type { ObjectEvent } from '../../../storage/cache/event.ts'
import type { Item } from '../../../storage/cache/item.ts'
import { MemoizedValues, MemoizedBytes, type MemoSpace } from '../../../storage/cache/memoized.ts'
import { decodeStruct } from '../../../objects/codec/decode.ts'
import { valueAt } from '../../../objects/codec/json-bytes.ts'
import type { Conversion } from '../../../objects/codec/negotiate.ts'
import { printObject } from '../../../objects/codec/object.ts'
import { encodeItem } from '../../../objects/codec/protobuf/envelope.ts'
import { readShown } from '../../../objects/codec/settled.ts'
import type { Transcoder } from '../../../objects/codec/protobuf/transcode.ts'
import { bytesOfRow, type Row, rowOf } from '../../../objects/codec/table.ts'
import { isDivided, once } from '../../../lib/scheduling/parts.ts'
import { partialStruct } from '../../../registry/meta-types.ts'
import type { Resource } from '../../../registry/resource.ts'
import { type KeptPartials, partialJson, partialOf, partialOfWire } from './partial.ts'
import type { WrittenObject } from './representation.ts'
import type { IncludedObject } from './table.ts'
import type { WrittenMessages } from './written-messages.ts'

type Version = Conversion['version']

export type FormsOptions = {
  readonly memos: MemoSpace
  readonly transcoder: Transcoder
  readonly written: WrittenMessages
  readonly nowMs: () => number
}

export class ResourceForms {
  readonly resource: Resource
  readonly nowMs: () => number
  readonly #memos: MemoSpace
  readonly #transcoder: Transcoder
  readonly #messages: MemoizedBytes<Item>
  readonly #written: WrittenMessages
  #areMessagesRead = false
  readonly #partialMessages: MemoizedBytes<Item>
  readonly #partialTexts = new Map<Version, MemoizedBytes<Item>>()
  readonly #frames = new Map<string, MemoizedBytes<ObjectEvent>>()
  readonly #rows = new Map<string, MemoizedValues<Item, Row>>()

  constructor(resource: Resource, { memos, transcoder, written, nowMs }: FormsOptions) {
    this.resource = resource
    this.nowMs = nowMs
    this.#memos = memos
    this.#transcoder = transcoder
    this.#written = written
    this.#messages = new MemoizedBytes(memos, (item) => this.#encode(item))
    this.#partialMessages = new MemoizedBytes(memos, (item) => this.#encodePartial(item))
  }

  /**
   * Returns a function that frames events. `way` identifies the framing, and each framing has its
   * own cache. If only one watch sends an event, its frame is not cached, because it would evict
   * other frames. `makeOwn` creates such frames, possibly in reused memory.
   */
  frames(
    way: string,
    make: (shown: ObjectEvent) => Buffer,
    makeOwn: (shown: ObjectEvent) => Buffer = make,
  ): (shown: ObjectEvent) => Buffer {
    const known = this.#frames.get(way) ?? new MemoizedBytes<ObjectEvent>(this.#memos, make)
    this.#frames.set(way, known)
    return (shown) => (shown.isShared ? known.of(shown) : makeOwn(shown))
  }

  /** Returns the protobuf message of the object, without an envelope. */
  readonly message = (item: Item): Buffer => {
    this.#areMessagesRead = true
    return this.#messages.of(item)
  }

  /** Encodes the protobuf message of an item, and caches it before it is requested. */
  readonly makeMessage = (item: Item): void => {
    this.#messages.of(item)
  }

  /**
   * Returns the protobuf message of an object that was just written. If clients have requested such
   * messages of the resource before, the message is cached for the watch event of the write.
   */
  readonly writtenMessage = (object: KubeObject): Buffer => {
    const message = encodeItem(object, this.resource.shape.struct)
    if (this.#areMessagesRead) this.#written.keep(object, message)
    return message
  }

  partials(version: Version): KeptPartials {
    const texts = this.#texts(version)
    return { json: (item) => texts.of(item), protobuf: (item) => this.#partialMessages.of(item) }
  }

  rows(version: Version, included: IncludedObject): (item: Item) => Row {
    const key = `${version} ${included}`
    const known = this.#rows.get(key)
    if (known !== undefined) return (item) => known.of(item)
    const made = new MemoizedValues<Item, Row>(
      this.#memos.queue,
      (item) => this.#rowOfItem(item, version, included),
      bytesOfRow,
    )
    this.#rows.set(key, made)
    return (item) => made.of(item)
  }

  /** Returns the table row of an object. A subresource such as Scale has another table `kind`. */
  row(
    { object, json }: WrittenObject,
    version: Version,
    included: IncludedObject,
    kind = this.resource.table,
  ): Row {
    const known = kind === this.resource.table ? json : undefined
    return rowOf(object, kind, this.#included({ object, json: known }, version, included))
  }

  /**
   * Returns the table row of a cached object. The columns need only a few fields, which JSON.parse
   * extracts faster than a decoder with a schema.
   */
  #rowOfItem(item: Item, version: Version, included: IncludedObject): Row {
    const { isCustom, table } = this.resource
    // Choose only once between the decoded object and its JSON. While the row of a large item is
    // generated in slices, another request can decode or serialize the item. A large item is
    // decoded, because JSON.parse cannot be divided into slices.
    const object = once('object of a row', () => {
      if (item.decoded !== undefined || (item.isLarge && isDivided())) return item.peek()
      return isCustom ? objectIn(parseJson(item.wire())) : readShown(item.wire())
    })
    if (object === undefined)
      return this.row({ object: item.peek(), json: undefined }, version, included)
    if (included === 'None') return rowOf(object, table, 'null')
    const shown = once('printed object of a row', () =>
      included === 'Metadata' ? this.#partialText(item, version) : item.wire().subarray(0, -1),
    )
    return rowOf(object, table, shown.toString())
  }

  #encode(item: Item): Buffer {
    const { decoded } = item
    const written = decoded && this.#written.take(decoded)
    if (written !== undefined) return written
    const { struct } = this.resource.shape
    return this.#transcoder.message(item.wire(), 0, struct) ?? encodeItem(item.peek(), struct)
  }

  /**
   * Encodes the metadata of an object as protobuf. The message has no apiVersion, so it is the same
   * for v1 and v1beta1.
   */
  #encodePartial(item: Item): Buffer {
    const json = this.resource.isCustom ? undefined : partialOfWire(item, 'v1')
    const made = json && this.#transcoder.message(json, 0, partialStruct(this.resource.release))
    return (
      made ??
      encodeItem(partialOf(this.#metadataOf(item), 'v1'), partialStruct(this.resource.release))
    )
  }

  /**
   * Returns the metadata of an object as JSON. For custom resources, the metadata has a different
   * order of fields, so it is serialized again.
   */
  #partialText(item: Item, version: Version): Buffer {
    const json = this.resource.isCustom ? undefined : partialOfWire(item, version)
    return json ?? Buffer.from(partialJson(this.#metadataOf(item), version, this.resource.release))
  }

  /** Returns the metadata of an object without decoding the other fields, which can be large. */
  #metadataOf(item: Item): Pick<KubeObject, 'metadata'> {
    const metadata = item.decoded === undefined ? valueAt(item.wire(), ['metadata']) : undefined
    if (metadata === undefined) return item.peek()
    const { value, fault } = decodeStruct(
      `{"metadata":${metadata.toString()}}`,
      partialStruct(this.resource.release),
    )
    return fault === undefined ? { metadata: fieldsOf(value['metadata']) } : item.peek()
  }

  #included({ object, json }: WrittenObject, version: Version, included: IncludedObject): string {
    if (included === 'None') return 'null'
    if (included === 'Metadata') return partialJson(object, version, this.resource.release)
    return (json ?? printObject(object, this.resource.shape)).toString().trimEnd()
  }

  #texts(version: Version): MemoizedBytes<Item> {
    const known = this.#partialTexts.get(version)
    if (known !== undefined) return known
    const made = new MemoizedBytes<Item>(this.#memos, (item) => this.#partialText(item, version))
    this.#partialTexts.set(version, made)
    return made
  }
}

/**
 * Returns a JSON value as an object, or undefined if it is not an object. The value was parsed
 * without loss of digits, because columns of custom resources can show any number.
 */
function objectIn(value: Json): KubeObject | undefined {
  const { kind, apiVersion, metadata, ...fields } = fieldsOf(value)
  if (typeof kind !== 'string' || typeof apiVersion !== 'string' || !isFields(metadata))
    return undefined
  return { ...fields, kind, apiVersion, metadata }
}
