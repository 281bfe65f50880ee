/** What has been made of the objects of one resource besides their JSON, kept beside the cache for whoever asks next. */
import type { KubeObject } from '../../api/object.ts'
import type { Shown } from '../../cache/event.ts'
import type { Item } from '../../cache/item.ts'
import { type Shelf, Shelved } from '../../cache/made.ts'
import type { Conversion } from '../../codec/negotiate.ts'
import { printObject } from '../../codec/object.ts'
import { encodeItem } from '../../codec/protobuf/envelope.ts'
import { bytesOfRow, type Row, rowOf } from '../../codec/table.ts'
import { partialStruct } from '../../registry/meta-types.ts'
import type { Resource } from '../../registry/resource.ts'
import { type KeptPartials, partialJson, partialOf } from './partial.ts'
import type { IncludedObject } from './table.ts'

type Version = Conversion['version']

const bytesOf = ({ length }: Buffer): number => length

/** The same for both versions: the message does not name its own. */
const encodePartial = (item: Item): Buffer => encodeItem(partialOf(item.peek(), 'v1'), partialStruct())

export class ResourceForms {
  readonly resource: Resource
  readonly nowMs: () => number
  readonly #shelf: Shelf
  readonly #messages: Shelved<Item, Buffer>
  readonly #partialMessages: Shelved<Item, Buffer>
  readonly #partialTexts = new Map<Version, Shelved<Item, Buffer>>()
  readonly #frames = new Map<string, Shelved<Shown, Buffer>>()
  readonly #rows = new Map<string, Shelved<Item, Row>>()

  constructor(resource: Resource, shelf: Shelf, nowMs: () => number) {
    this.resource = resource
    this.nowMs = nowMs
    this.#shelf = shelf
    this.#messages = new Shelved(shelf, (item) => encodeItem(item.peek(), resource.shape.struct), bytesOf)
    this.#partialMessages = new Shelved(shelf, encodePartial, bytesOf)
  }

  /** Framed events, one set for each way of framing. */
  frames(way: string, make: (shown: Shown) => Buffer): (shown: Shown) => Buffer {
    const known = this.#frames.get(way) ?? new Shelved<Shown, Buffer>(this.#shelf, make, bytesOf)
    this.#frames.set(way, known)
    return (shown) => known.of(shown)
  }

  /** The object's own message in protobuf. */
  readonly message = (item: Item): Buffer => this.#messages.of(item)

  partials(version: Version): KeptPartials {
    const texts = this.#texts(version)
    return { json: (item) => texts.of(item), protobuf: (item) => this.#partialMessages.of(item) }
  }

  rows(version: Version, included: IncludedObject): (item: Item) => Row {
    const key = `${version} ${included}`
    const known = this.#rows.get(key)
    if (known !== undefined) return (item) => known.of(item)
    const made = new Shelved<Item, Row>(this.#shelf, (item) => this.row(item.peek(), version, included), bytesOfRow)
    this.#rows.set(key, made)
    return (item) => made.of(item)
  }

  row(object: KubeObject, version: Version, included: IncludedObject, kind = this.resource.table): Row {
    return rowOf(object, kind, this.#included(object, version, included))
  }

  #included(object: KubeObject, version: Version, included: IncludedObject): string {
    if (included === 'None') return 'null'
    if (included === 'Metadata') return partialJson(object, version)
    return printObject(object, this.resource.shape).toString().trimEnd()
  }

  #texts(version: Version): Shelved<Item, Buffer> {
    const known = this.#partialTexts.get(version)
    if (known !== undefined) return known
    const made = new Shelved<Item, Buffer>(
      this.#shelf,
      (item) => Buffer.from(partialJson(item.peek(), version)),
      bytesOf,
    )
    this.#partialTexts.set(version, made)
    return made
  }
}
