/**
 * Applies a JSON patch (RFC 6902). It differs from the RFC in the same points as the Go library
 * that kube-apiserver uses. Negative indexes count from the end. A member that does not exist can
 * be replaced, and can be copied as null. An omitted value is null.
 */
import { type Items, JsonNode, type Members, type Value } from './document.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { quote } from '../../api/quote.ts'
import { DEPTH_MAX, PatchError, type Work } from './work.ts'

/**
 * Maximum total number of bytes that copy operations can add to a document. It equals the size
 * limit of a request body.
 */
const COPIED_BYTES_MAX = 3 * 1024 * 1024

/** Maximum number of keys in a path. Deeper documents are rejected anyway. */
const KEYS_MAX = DEPTH_MAX
/**
 * Maximum length of a path. Real paths are far shorter. Decoding a path of several megabytes takes
 * a long time.
 */
const POINTER_CHARACTERS_MAX = 256 * 1024

/**
 * An operation of a patch. Members that are omitted or null are undefined here, except that `value`
 * is null if the patch contains null.
 */
export type Operation = {
  readonly op: string | undefined
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: Value | undefined
}

/** The first release in which a string, a number or null cannot replace the whole document. */
const SCALARS_REFUSED_SINCE = 35

/** Whether such a replacement fails. Otherwise, it is ignored. */
export const refusesScalars = (release: number): boolean => release >= SCALARS_REFUSED_SINCE

/**
 * Applies all operations to a document and returns the result. Also changes the given document.
 * Throws a PatchError if an operation fails.
 */
export function* applyOperations(
  document: JsonNode,
  operations: readonly Operation[],
  work: Work,
  isStrict = false,
): Steps<JsonNode> {
  const run = new Run(document, work, isStrict)
  for (const operation of operations) {
    yield undefined
    yield* run.apply(operation)
  }
  return run.root
}

/** Thrown if a test operation finds a different value. */
export class TestFailed extends PatchError {}

/** Where an operation applies: an object or list, and a key or index in it. */
type OperationTarget = { readonly inside: Items | Members; readonly key: string }

class Run {
  root: JsonNode
  readonly #work: Work
  /** Whether a scalar that replaces the whole document is an error. */
  readonly #isStrict: boolean
  #copiedBytes = 0

  constructor(root: JsonNode, work: Work, isStrict: boolean) {
    this.root = root
    this.#work = work
    this.#isStrict = isStrict
  }

  *apply({ op = 'unknown', path, from, value }: Operation): Steps<void> {
    if (!operations.has(op)) throw new PatchError(`Unexpected kind: ${op}`)
    if (from === undefined && (op === 'move' || op === 'copy')) throw undecoded(op, 'from')
    if (path === undefined) throw undecoded(op, 'path')
    if (op === 'move' || op === 'copy') yield* this.#opened(from ?? '')
    if (op !== 'move') yield* this.#opened(path)
    switch (op) {
      case 'add':
        return withLocation(`error in add for path: '${path}'`, () =>
          this.#add(this.#at(path, op), value ?? null),
        )
      case 'remove':
        withLocation(`error in remove for path: '${path}'`, () => this.#remove(this.#at(path, op)))
        return
      case 'replace':
        if (path === '') return this.#replaceRoot(value ?? null)
        return withLocation(`error in remove for path: '${path}'`, () =>
          replace(this.#at(path, op), value ?? null),
        )
      case 'move': {
        const source = this.#at(from ?? '', op, 'from path')
        const moved = withLocation(`error in move for path: '${source.key}'`, () =>
          this.#remove(source),
        )
        yield* this.#opened(path)
        const place = this.#at(path, op, 'destination path')
        return withLocation(`error in move for path: '${path}'`, () => this.#add(place, moved))
      }
      case 'copy': {
        // Both paths are resolved before the value is copied. This parses all objects on the paths,
        // which are then copied with sorted keys, as in kube-apiserver.
        const source = withLocation(`error in copy for from: '${from}'`, () =>
          get(this.#at(from ?? '', op, 'from path')),
        )
        const place = this.#at(path, op, 'destination path')
        return withLocation('error while adding value during copy', () =>
          this.#add(place, this.#copy(source)),
        )
      }
      case 'test': {
        const current =
          path === ''
            ? this.root
            : withLocation(`error in test for path: '${path}'`, () => get(this.#at(path, op)))
        if (!(yield* isSame(current, value)))
          throw new TestFailed(`testing value ${path} failed: test failed`)
      }
    }
  }

  #at(pointer: string, op: string, what = 'path'): OperationTarget {
    const place = this.#find(pointer)
    if (place !== undefined) return place
    throw new PatchError(
      `${op} operation does not apply: doc is missing ${what}: ${quoted(op, pointer)}: missing value`,
    )
  }

  /**
   * Returns the object or list that contains the target of a path, and the key in it. Returns
   * undefined if there is no such object or list. Text before the first slash is ignored.
   */
  #find(pointer: string): OperationTarget | undefined {
    if (pointer.length > POINTER_CHARACTERS_MAX)
      throw new PatchError(`the path has more than ${POINTER_CHARACTERS_MAX} characters`)
    const [, ...keys] = pointer.split('/', KEYS_MAX + 2).map(unescaped)
    if (keys.length > KEYS_MAX) throw new PatchError(`the path has more than ${KEYS_MAX} keys`)
    const last = keys.pop()
    if (last === undefined) return undefined
    let inside = insideOf(this.root)
    for (const key of keys) inside = inside && insideOf(reached({ inside, key }))
    return inside && { inside, key: last }
  }

  /**
   * Parses long objects and lists on a path in time slices. All other objects must stay text,
   * because the keys of parsed objects are printed in sorted order.
   */
  *#opened(pointer: string): Steps<void> {
    if (this.#work.slices === undefined || pointer.length > POINTER_CHARACTERS_MAX) return
    let value: Value = this.root
    for (const key of pointer.split('/', KEYS_MAX).slice(1).map(unescaped)) {
      if (value === null) return
      yield* value.opened()
      const inside = insideOf(value)
      value = inside === undefined ? null : reached({ inside, key })
    }
  }

  #add({ inside, key }: OperationTarget, value: Value): void {
    if (!Array.isArray(inside)) {
      inside.set(key, value)
      return
    }
    const index = key === '-' ? inside.length : indexOf(key, inside.length + 1)
    this.#work.spend(inside.length - index)
    inside.splice(index, 0, value)
  }

  #remove(place: OperationTarget): Value {
    const value = get(place)
    const { inside, key } = place
    if (Array.isArray(inside)) {
      const index = indexOf(key, inside.length)
      this.#work.spend(inside.length - index)
      inside.splice(index, 1)
    } else if (!inside.delete(key))
      throw new KeyError(`Unable to remove nonexistent key: ${key}: missing value`)
    return value
  }

  /** Replaces the whole document. Only an object or list can replace it. */
  #replaceRoot(value: Value): void {
    if (value !== null && (value.members() ?? value.items()) !== undefined) this.root = value
    else if (this.#isStrict)
      throw new PatchError('replace operation value must be object or array: %!w(<nil>)')
  }

  #copy(value: Value): Value {
    if (value === null) return null
    const text = value.print()
    this.#work.spend(text.length)
    this.#copiedBytes += Buffer.byteLength(text)
    if (this.#copiedBytes > COPIED_BYTES_MAX)
      throw new PatchError(`the copy operations add more than ${COPIED_BYTES_MAX} bytes`)
    return new JsonNode(text, this.#work)
  }
}

const operations: ReadonlySet<string> = new Set([
  'add',
  'remove',
  'replace',
  'move',
  'copy',
  'test',
])

/** Thrown if an object does not have a key, or a list does not have an index. */
class KeyError extends PatchError {}

/**
 * Calls `act`. If it throws a KeyError, adds the location to the message, as the Go library does.
 */
function withLocation<T>(where: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw error instanceof KeyError ? new PatchError(`${where}: ${error.message}`) : error
  }
}

/**
 * Returns the error for an operation without `path` or `from`. As in the Go library, only some
 * operations have a detailed message.
 */
function undecoded(op: string, what: 'path' | 'from'): PatchError {
  const isBrief = what === 'path' && (op === 'add' || op === 'remove' || op === 'copy')
  const why = isBrief
    ? ''
    : what === 'from'
      ? 'operation, missing from field: '
      : 'operation missing path field: '
  return new PatchError(`${op} operation failed to decode ${what}: ${why}missing value`)
}

/** Quotes a path in an error message. The Go library does this only for some operations. */
const quoted = (op: string, pointer: string): string =>
  op === 'add' || op === 'remove' ? `"${pointer}"` : pointer

const insideOf = (value: Value): Items | Members | undefined => value?.members() ?? value?.items()

/**
 * Returns the value at a location. Returns null if it does not exist, even for an index of a list.
 */
function reached(place: OperationTarget): Value {
  try {
    return get(place)
  } catch (error) {
    if (error instanceof KeyError) return null
    throw error
  }
}

/**
 * Returns the value at a location. Returns null for a missing key of an object, and throws an error
 * for a missing index of a list.
 */
function get({ inside, key }: OperationTarget): Value {
  return (Array.isArray(inside) ? inside[indexOf(key, inside.length)] : inside.get(key)) ?? null
}

function replace({ inside, key }: OperationTarget, value: Value): void {
  if (Array.isArray(inside)) inside[indexOf(key, inside.length)] = value
  else inside.set(key, value)
}

function indexOf(key: string, length: number): number {
  if (!/^[+-]?[0-9]+$/.test(key)) {
    const why = `strconv.Atoi: parsing ${quote(key)}: invalid syntax`
    throw new KeyError(`value was not a proper array index: '${key}': ${why}`)
  }
  const given = Number(key)
  const index = given < 0 ? given + length : given
  if (index < 0 || index >= length) {
    throw new KeyError(`Unable to access invalid index: ${given}: invalid index referenced`)
  }
  return index
}

/** Whether two values are equal. A missing value is equal to null. */
function* isSame(current: Value, value: Value | undefined): Steps<boolean> {
  if (current === null) return (value ?? null) === null
  return value !== undefined && value !== null && (yield* current.equals(value))
}

/** Decodes a key. According to RFC 6901, section 4, `~1` must be replaced before `~0`. */
const unescaped = (key: string): string =>
  key.includes('~') ? key.replaceAll('~1', '/').replaceAll('~0', '~') : key
