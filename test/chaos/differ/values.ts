/** Values on which servers are most likely to disagree. */
import type { Json, JsonObject } from '../../recorded/compat/json.ts'
import type { Choices } from './choices.ts'
import { Lists } from './data.ts'

/**
 * Maps patterns of field names to lists of values, such as IP addresses or durations. The first
 * pattern that matches the name of a field determines its list.
 */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/ip$|ips$|cidr|host|address|block/i, 'ips'],
  [/duration|timeout|interval|period/i, 'durations'],
  [/name|key|label|class|secret|user|group/i, 'names'],
]
const amounts =
  /quantity|limits|requests|cpu|memory|storage|capacity|hard|used|min|max|default|average|target|value|overhead|sizeLimit/i
const usualIntegers: readonly Json[] = [0, 1, 2, 5, 80, 443, 8080]

export class Values {
  readonly #lists = new Lists('values.json')

  name(choices: Choices): string {
    return choices.pick(this.#lists.texts('names'))
  }

  /** Returns a random value of any type, which does not have to fit a field. */
  any(choices: Choices): Json {
    const from = (list: string) => (): Json => choices.pick(this.#lists.of(list))
    return choices.weigh<() => Json>(
      [3, from('texts')],
      [2, from('integers')],
      [1, from('names')],
      [1, from('quantities')],
      [1, () => choices.chance(0.5)],
      [1, () => null],
      [0.7, () => ({})],
      [0.7, () => []],
      [0.4, () => [from('texts')()]],
      [0.4, () => ({ a: from('texts')() })],
      [0.3, from('times')],
      [0.3, from('ips')],
    )()
  }

  /**
   * Returns a value of the type of a leaf field. The choice depends on the meaning that the field's
   * name suggests.
   */
  ofLeaf(choices: Choices, schema: JsonObject, name: string): Json {
    const { type, format, enum: options } = schema
    const from = (list: string): Json => choices.pick(this.#lists.of(list))
    if (choices.chance(0.05)) return this.any(choices)
    if (Array.isArray(options) && choices.chance(0.8)) return choices.pick(options)
    if (format === 'date-time') return from('times')
    if (format === 'byte') return from('bytes')
    if (format === 'int-or-string') return from('intOrStrings')
    if (type === 'integer')
      return choices.chance(0.5) ? choices.pick(usualIntegers) : from('integers')
    if (type === 'number') return choices.pick([0, 1, 1.5, -1, 1e21, 1e-7, 100])
    if (type === 'boolean')
      return choices.chance(0.95) ? choices.chance(0.5) : choices.pick<Json>(['true', 0, null])
    if (type === undefined && schema['oneOf']) return from('quantities')
    if (amounts.test(name) && choices.chance(0.5)) return from('quantities')
    const meaning = meanings.find(([pattern]) => pattern.test(name))
    if (meaning !== undefined) return from(meaning[1])
    return from(choices.chance(0.7) ? 'texts' : 'names')
  }
}
