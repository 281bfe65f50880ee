/** Encodes profiles in the format of `go tool pprof`: profile.proto of github.com/google/pprof. */
import { ProtobufWriter, VARINT } from '../../lib/bytes/protobuf-writer.ts'

/** A function on a call stack. */
export type Frame = { readonly name: string; readonly file: string; readonly line: number }

/** A stack, with the innermost function first, and the values measured for it. */
export type StackSample = { readonly stack: readonly Frame[]; readonly values: readonly number[] }

export type PprofOptions = {
  /** Types of a sample's values, such as `['cpu', 'nanoseconds']`. */
  readonly types: readonly (readonly [string, string])[]
  readonly period: { readonly type: readonly [string, string]; readonly value: number }
  readonly startMs: number
  readonly durationMs: number
}

/** Number of samples that are encoded in one tick of the event loop. */
const TURN_SAMPLES = 500

export async function encodePprof(
  samples: Iterable<StackSample>,
  options: PprofOptions,
): Promise<Buffer> {
  const { types, period, startMs, durationMs } = options
  const tables = new Tables()
  const parts: Buffer[] = types.map((type) => message(1, tables.valueType(type)))
  let count = 0
  for (const { stack, values } of samples) {
    const ids = stack.map((frame) => tables.location(frame))
    parts.push(message(2, Buffer.concat([packed(1, ids), packed(2, values)])))
    if (++count % TURN_SAMPLES === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const last = [
    number(9, startMs * 1e6),
    number(10, durationMs * 1e6),
    message(11, tables.valueType(period.type)),
    number(12, period.value),
  ]
  return Buffer.concat([...parts, ...tables.encoded(), ...last])
}

/** Assigns numbers to the strings, functions and locations of a profile. */
class Tables {
  readonly #strings = new Map<string, number>([['', 0]])
  readonly #locations = new Map<string, number>()
  readonly #encoded: Buffer[] = []

  valueType([type, unit]: readonly [string, string]): Buffer {
    return Buffer.concat([number(1, this.#string(type)), number(2, this.#string(unit))])
  }

  location({ name, file, line }: Frame): number {
    const key = `${name}\0${file}\0${line}`
    const known = this.#locations.get(key)
    if (known !== undefined) return known
    // Each function has one location, which has the same number as the function.
    const id = this.#locations.size + 1
    this.#locations.set(key, id)
    const names = [
      number(2, this.#string(name)),
      number(3, this.#string(name)),
      number(4, this.#string(file)),
    ]
    this.#encoded.push(message(5, Buffer.concat([number(1, id), ...names, number(5, line)])))
    const place = Buffer.concat([number(1, id), number(2, line)])
    this.#encoded.push(message(4, Buffer.concat([number(1, id), message(4, place)])))
    return id
  }

  encoded(): readonly Buffer[] {
    return [
      ...this.#encoded,
      ...[...this.#strings.keys()].map((text) => message(6, Buffer.from(text))),
    ]
  }

  #string(text: string): number {
    const known = this.#strings.get(text)
    if (known !== undefined) return known
    const id = this.#strings.size
    this.#strings.set(text, id)
    return id
  }
}

/** Rounds a value to an integer. V8 can measure fractions, which the format does not support. */
const whole = (value: number): number => Math.max(0, Math.round(value))

function number(field: number, value: number): Buffer {
  const writer = new ProtobufWriter(FIELD_BYTES)
  writer.varint(whole(value))
  writer.tag(field, VARINT)
  return writer.take()
}

function message(field: number, bytes: Buffer): Buffer {
  const writer = new ProtobufWriter(bytes.length + FIELD_BYTES)
  writer.message(field, () => writer.raw(bytes))
  return writer.take()
}

function packed(field: number, values: readonly number[]): Buffer {
  const writer = new ProtobufWriter(values.length + FIELD_BYTES)
  writer.message(field, () => {
    for (const value of values.toReversed()) writer.varint(whole(value))
  })
  return writer.take()
}

/** Space for the tag and the length of a field. */
const FIELD_BYTES = 16
