/** Cases that do not apply to CEL as Kubernetes 1.33 has it, and why. */
import type { Case } from './suite.ts'

/** Whole suites. */
const suites: { readonly [name: string]: string } = {
  proto2: 'protobuf messages: Kubernetes has objects by schema instead',
  proto2_ext: 'protobuf extensions',
  proto3: 'protobuf messages: Kubernetes has objects by schema instead',
  enums: 'protobuf enums',
  wrappers: 'protobuf wrapper messages',
  dynamic: 'protobuf messages that hold any type',
  block_ext: 'cel.block is made by optimizers, no one writes it',
  math_ext: 'Kubernetes 1.33 does not offer math.*',
  encoders_ext: 'Kubernetes 1.33 does not offer base64.*',
}

const olderFormat =
  'Kubernetes stays with version 2 of the strings library, which prints this differently (cel-strings-format)'

/** Single cases: the reference answers otherwise, as recordings show. */
const cases: { readonly [path: string]: string } = {
  'timestamps/duration_converters/get_milliseconds':
    'the reference gives all milliseconds, not those of the last second (cel-durations)',
  'fields/qualified_identifier_resolution/map_value_repeat_key':
    'the last value of a repeated key counts (cel-corners-repeated-key)',
  'fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous':
    'the last value of a repeated key counts (cel-corners-repeated-key)',
  'optionals/optionals/map_null_entry_no_such_key':
    'what has no fields has none of this name (test/chaos/differ, optional-fields-of-what-has-none)',
  'optionals/optionals/map_present_key_invalid_field':
    'what has no fields has none of this name (test/chaos/differ, optional-fields-of-what-has-none)',
  'string_ext/value_errors/indexof_out_of_range': 'the reference gives -1 (cel-strings-errors)',
  'string_ext/value_errors/lastindexof_out_of_range': 'the reference gives -1 (cel-strings-errors)',
  'string_ext/last_index_of/empty_string':
    'the reference says that the index is out of range (cel-corners-order)',
}

const formats: readonly string[] = [
  'scientific notation formatting clause',
  'default precision for scientific notation',
  'positive infinity support for scientific notation',
  'negative infinity support for scientific notation',
  'NaN support for decimal',
  'positive infinity support for decimal',
  'negative infinity support for decimal',
  'positive infinity support for fixed-point',
  'negative infinity support for fixed-point',
  'list support for string',
  'map support for string',
  'map support (all key types)',
  'dyntype support for scientific notation',
  'dyntype NaN/infinity support',
  'dyntype support for lists',
  'dyntype support for maps',
  'scientific notation formatting clause in a string variable',
]

const messages =
  /TestAllTypes|google\.protobuf\.(?:[A-Z]?[A-Za-z0-9]*Value|Struct|Any|Empty|FieldMask)\b|expr\.conformance|NestedEnum|GlobalEnum/

/** Undefined: the case applies. */
export function skipReason({ path, test }: Case): string | undefined {
  const suite = suites[path.split('/', 1)[0] ?? '']
  if (suite !== undefined) return suite
  if (test['disableCheck'] === true) return 'Kubernetes checks the types of every expression'
  const [, group, ...name] = path.split('/')
  if (group === 'format' && formats.includes(name.join('/'))) return olderFormat
  const { container: _, ...rest } = test
  const text = JSON.stringify(rest)
  if (messages.test(text)) return 'protobuf messages: Kubernetes has objects by schema instead'
  if (text.includes('"function":{')) return 'calls functions that only the test declares'
  return cases[path]
}
