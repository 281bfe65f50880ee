/**
 * Encodes the facts of an object, which are its labels and selectable fields, in a few bytes that
 * are appended to the object's bytes. A selector thus reads about forty bytes instead of decoding
 * thousands. The facts begin with a head of four bytes, which contains the length of the fields and
 * the number of a vocabulary. The head is followed by the values of the selectable fields, in an
 * order that is fixed for the resource, and then by the labels.
 *
 * Strings that several objects share are words in a vocabulary of the resource, and are encoded as
 * numbers. Other strings, such as IP addresses, are written out. When a vocabulary is full, it is
 * replaced by a new one from time to time. The previous vocabulary remains readable until the next
 * replacement. Words that are still written move to the new vocabulary; the others are then
 * forgotten. Facts that refer to a forgotten vocabulary are treated as missing.
 */
import type { KubeObject } from '../../api/object.ts'

export type FieldReaders = { readonly [field: string]: (object: KubeObject) => string }

/**
 * Maximum length of the facts (encoded labels and selectable fields) of one object. If the facts
 * are longer, they are not stored, and selectors decode the object. Kubernetes limits the length of
 * labels, but not that of the selectable fields of custom resources.
 */
const FACTS_BYTES_MAX = 4_096
/**
 * Maximum number of words in a vocabulary. The number of a word then takes at most two bytes. A
 * vocabulary full of words as long as a label takes half a megabyte.
 */
const WORDS_MAX = 8_192
const WORD_BYTES_MAX = 512
/**
 * Minimum number of objects to encode before a full vocabulary is replaced. Few resources have more
 * objects in memory. After two replacements, an object that has not been written since then has to
 * be decoded again.
 */
const VOCABULARY_OBJECTS_MIN = 1 << 20
/**
 * Number of sets in the table of hashes, which is a set-associative cache. The table contains the
 * hashes of recently encoded strings. If a string is encoded while its hash is in the table, the
 * string becomes a word of the vocabulary.
 */
const MARK_SETS = 256
const MARKS_IN_SET = 4

/**
 * Length of the head in bytes. The head contains the length of the fields, which gives the position
 * of the labels, and the number that identifies the vocabulary.
 */
const HEAD_BYTES = 4
const LENGTH_BITS = 12
const VOCABULARIES = 1 << (32 - LENGTH_BITS)

/** If this bit is set in the first byte of an encoded number, a second byte follows. */
const MORE = 0x80
/**
 * If this bit of an encoded number is set, the other bits are the number of a word in the
 * vocabulary (table of shared strings). Otherwise, they are the length of a string that is written
 * out.
 */
const IS_WORD = 1

export class Facts {
  readonly #readersOf: () => FieldReaders
  readonly #objectsMin: number
  #words = new Vocabulary()
  #wordsBefore = new Vocabulary()
  #vocabulary = 1
  #objects = 0
  #changes = 0
  #readers: FieldReaders[string][] | undefined
  #places: ReadonlyMap<string, number> | undefined
  #marks: Uint32Array | undefined
  #replaced = 0
  #made: Buffer | undefined
  #end = 0

  /**
   * Creates the encoder for the labels and selectable fields of a resource. `readersOf` is called
   * when the fields are first needed. `objectsMin` is smaller in tests.
   */
  constructor(readersOf: () => FieldReaders, { objectsMin = VOCABULARY_OBJECTS_MIN } = {}) {
    this.#readersOf = readersOf
    this.#objectsMin = objectsMin
  }

  /**
   * A number that changes whenever a word is added to the vocabulary (table of shared strings),
   * moved or removed.
   */
  get changes(): number {
    return this.#changes
  }

  get wordCount(): number {
    return this.#words.texts.length + this.#wordsBefore.texts.length
  }

  lookUp(sought: SoughtText): void {
    sought.number = this.#words.numbers.get(sought.text) ?? -1
    sought.numberBefore = this.#wordsBefore.numbers.get(sought.text) ?? -1
  }

  textOf(number: number, isBefore: boolean): string {
    return (isBefore ? this.#wordsBefore : this.#words).texts[number] ?? ''
  }

  /**
   * Whether these encoded labels and fields can still be read, because they refer to the current or
   * the previous vocabulary (table of shared strings).
   */
  knows(bytes: Buffer, at: number): boolean {
    const vocabulary = vocabularyAt(bytes, at)
    return vocabulary === this.#vocabulary || (vocabulary + 1) % VOCABULARIES === this.#vocabulary
  }

  /**
   * Whether these encoded labels and fields, which must be readable, refer to the previous
   * vocabulary (table of shared strings).
   */
  areBefore(bytes: Buffer, at: number): boolean {
    return vocabularyAt(bytes, at) !== this.#vocabulary
  }

  /**
   * Removes all words from the vocabulary (table of shared strings). The caller must have dropped
   * all objects, because their encoded labels and fields refer to words.
   */
  forgetWords(): void {
    this.#renew()
    this.#renew()
  }

  #renew(): void {
    this.#wordsBefore = this.#words
    this.#words = new Vocabulary()
    this.#vocabulary = (this.#vocabulary + 1) % VOCABULARIES
    this.#objects = 0
    this.#changes++
  }

  /** Returns the index of a selectable field, or undefined if the field is not encoded. */
  placeOf(field: string): number | undefined {
    this.#places ??= new Map(Object.keys(this.#readersOf()).map((name, at) => [name, at]))
    return this.#places.get(field)
  }

  readField(object: KubeObject, place: number): string {
    return this.#fieldReaders()[place]?.(object) ?? ''
  }

  /**
   * Encodes the labels and selectable fields of an object. Returns undefined if the result is too
   * long. The result is valid until the next call.
   */
  encode(object: KubeObject): Buffer | undefined {
    const made = (this.#made ??= Buffer.allocUnsafeSlow(FACTS_BYTES_MAX))
    if (++this.#objects > this.#objectsMin && this.#words.texts.length >= WORDS_MAX) this.#renew()
    this.#end = HEAD_BYTES
    for (const read of this.#fieldReaders()) if (!this.#write(made, read(object))) return undefined
    made.writeInt32LE((this.#vocabulary << LENGTH_BITS) | (this.#end - HEAD_BYTES))
    const { labels = {} } = object.metadata
    const keys = Object.keys(labels)
    // With this many labels, the encoded labels would be too long, because each of them takes at
    // least two bytes.
    if (2 * keys.length > FACTS_BYTES_MAX) return undefined
    this.#writeNumber(made, keys.length)
    for (const key of keys) {
      if (!this.#write(made, key) || !this.#write(made, labels[key] ?? '')) return undefined
    }
    return made.subarray(0, this.#end)
  }

  #fieldReaders(): readonly FieldReaders[string][] {
    return (this.#readers ??= Object.values(this.#readersOf()))
  }

  /**
   * Appends a string or, if it is a word of the vocabulary (table of shared strings), its number.
   * Returns false, and appends nothing, if the result would be longer than FACTS_BYTES_MAX.
   */
  #write(made: Buffer, text: string): boolean {
    const number = this.#words.numbers.get(text) ?? this.#moved(text)
    const length = number === undefined ? Buffer.byteLength(text) : 0
    // Reserve two more bytes for the number of labels, which may follow.
    if (this.#end + 2 + length + 2 > FACTS_BYTES_MAX) return false
    this.#writeNumber(made, number === undefined ? length << 1 : (number << 1) | IS_WORD)
    if (length === 0) return true
    made.write(text, this.#end)
    const start = this.#end
    this.#end += length
    if (
      length <= WORD_BYTES_MAX &&
      this.#words.texts.length < WORDS_MAX &&
      this.#wasMet(made, start)
    )
      this.#learn(made, start)
    return true
  }

  #writeNumber(made: Buffer, number: number): void {
    if (number < MORE) {
      made[this.#end++] = number
      return
    }
    made[this.#end++] = (number & (MORE - 1)) | MORE
    made[this.#end++] = number >> 7
  }

  /**
   * Whether the string from `start` to the end of the buffer was encoded recently. If two strings
   * have the same hash, one of them becomes a word too early, which is harmless.
   */
  #wasMet(made: Buffer, start: number): boolean {
    const marks = (this.#marks ??= new Uint32Array(MARK_SETS * MARKS_IN_SET))
    let mark = 0x811c9dc5
    for (let at = start; at < this.#end; at++) mark = Math.imul(mark ^ (made[at] ?? 0), 0x01000193)
    mark >>>= 0
    const set = ((mark ^ (mark >>> 16)) & (MARK_SETS - 1)) * MARKS_IN_SET
    for (let at = set; at < set + MARKS_IN_SET; at++) if (marks[at] === mark) return true
    marks[set + (this.#replaced++ % MARKS_IN_SET)] = mark
    return false
  }

  /**
   * Adds the string to the vocabulary. The string is copied from the buffer, because the original
   * may be a slice of the object's JSON and would keep it in memory.
   */
  #learn(made: Buffer, start: number): void {
    const text = made.toString('utf8', start, this.#end)
    if (this.#words.numbers.has(text)) return // a lone surrogate has no UTF-8 form
    this.#words.add(text)
    this.#changes++
  }

  /**
   * Moves a word from the previous vocabulary to the current one, because it is written again.
   * Returns its new number.
   */
  #moved(text: string): number | undefined {
    const before = this.#wordsBefore.numbers.get(text)
    const own = before === undefined ? undefined : this.#wordsBefore.texts[before]
    if (own === undefined || this.#words.texts.length >= WORDS_MAX) return undefined
    this.#changes++
    return this.#words.add(own)
  }
}

class Vocabulary {
  readonly numbers = new Map<string, number>()
  readonly texts: string[] = []

  add(text: string): number {
    const number = this.texts.push(text) - 1
    this.numbers.set(text, number)
    return number
  }
}

/**
 * Returns the number of the vocabulary. There are a million numbers, so no number is reused while
 * an object still refers to it.
 */
const vocabularyAt = (bytes: Buffer, at: number): number =>
  ((bytes[at + 1] ?? 0) >> (LENGTH_BITS - 8)) |
  ((bytes[at + 2] ?? 0) << 4) |
  ((bytes[at + 3] ?? 0) << 12)

const lengthAt = (bytes: Buffer, at: number): number =>
  (bytes[at] ?? 0) | (((bytes[at + 1] ?? 0) << 8) & ((1 << LENGTH_BITS) - 1))

/** A string that a selector looks for. */
export class SoughtText {
  readonly text: string
  readonly bytes: Buffer
  /**
   * The number of the word in the current and in the previous vocabulary, or a negative number if
   * the vocabulary does not contain it.
   */
  number = -1
  numberBefore = -1

  constructor(text: string) {
    this.text = text
    this.bytes = Buffer.from(text)
  }
}

/** Reads the encoded labels and selectable fields of one object. */
export class FactsReader {
  #isBefore = false
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0

  /** Moves the reader to the value of a selectable field. */
  openField(
    facts: Facts,
    bytes: Buffer,
    { at, place }: { readonly at: number; readonly place: number },
  ): void {
    this.#isBefore = facts.areBefore(bytes, at)
    this.#bytes = bytes
    this.#at = at + HEAD_BYTES
    this.skip(place)
  }

  /**
   * Moves the reader to the value of a label. Returns false if the object does not have the label.
   */
  openLabel(
    facts: Facts,
    bytes: Buffer,
    { at, key }: { readonly at: number; readonly key: SoughtText },
  ): boolean {
    this.#openLabels(facts, bytes, at)
    for (let left = this.number(); left > 0; left--) {
      if (this.is(key)) return true
      this.skip(1)
    }
    return false
  }

  /** Returns all labels by key. */
  labels(facts: Facts, bytes: Buffer, at: number): ReadonlyMap<string, string> {
    this.#openLabels(facts, bytes, at)
    const labels = new Map<string, string>()
    for (let left = this.number(); left > 0; left--) labels.set(this.text(facts), this.text(facts))
    return labels
  }

  get at(): number {
    return this.#at
  }

  #openLabels(facts: Facts, bytes: Buffer, at: number): void {
    this.#isBefore = facts.areBefore(bytes, at)
    this.#bytes = bytes
    this.#at = at + HEAD_BYTES + lengthAt(bytes, at)
  }

  number(): number {
    const first = this.#bytes[this.#at++] ?? 0
    return first < MORE ? first : (first & (MORE - 1)) | ((this.#bytes[this.#at++] ?? 0) << 7)
  }

  skip(texts: number): void {
    for (let left = texts; left > 0; left--) {
      const number = this.number()
      if ((number & IS_WORD) === 0) this.#at += number >> 1
    }
  }

  /** Reads the next string and returns whether it equals `sought`. */
  is(sought: SoughtText): boolean {
    const number = this.number()
    if ((number & IS_WORD) !== 0)
      return number >> 1 === (this.#isBefore ? sought.numberBefore : sought.number)
    const length = number >> 1
    const start = this.#at
    this.#at += length
    const { bytes } = sought
    if (bytes.length !== length) return false
    for (let i = 0; i < length; i++) if (this.#bytes[start + i] !== bytes[i]) return false
    return true
  }

  /** Like `is`, but reads the string at `at`. */
  isAt(at: number, sought: SoughtText): boolean {
    this.#at = at
    return this.is(sought)
  }

  text(facts: Facts): string {
    const number = this.number()
    if ((number & IS_WORD) !== 0) return facts.textOf(number >> 1, this.#isBefore)
    const start = this.#at
    this.#at += number >> 1
    return this.#bytes.toString('utf8', start, this.#at)
  }
}
