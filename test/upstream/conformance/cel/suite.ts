/**
 * The conformance cases of the CEL specification, from @bufbuild/cel-spec, read as plain data. Each
 * expression is parsed, checked against the declared types and evaluated, as in the official test
 * runner. Cases that do not apply to Kubernetes' CEL are skipped with a reason.
 */
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import { fieldsOf, type Fields, itemsOf, type Json, textOf } from '../../../../src/api/object.ts'
import { compile } from '../../../../src/objects/cel/compile.ts'
import {
  createEnvironment,
  type Environment,
  withVariables,
} from '../../../../src/objects/cel/environment.ts'
import { isEqual } from '../../../../src/objects/cel/compare.ts'
import { listsLibrary } from '../../../../src/objects/cel/library/lists.ts'
import { optionalsLibrary } from '../../../../src/objects/cel/library/optionals.ts'
import { standardLibrary } from '../../../../src/objects/cel/library/standard.ts'
import {
  basicStringsOf,
  formattedStrings,
  reversedStrings,
} from '../../../../src/objects/cel/library/strings.ts'
import { bindingMacros, twoVariableMacros } from '../../../../src/objects/cel/macros.ts'
import * as types from '../../../../src/objects/cel/types.ts'
import {
  ArrayList,
  Duration,
  HashMap,
  isKey,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../../../src/objects/cel/values.ts'

export type Case = { readonly path: string; readonly test: Fields }

type Suite = {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly { original: unknown }[]
}

export function allCases(): Case[] {
  const collect = (suite: Suite, path: string): Case[] => [
    ...(suite.tests ?? []).map(({ original }) => {
      const test = fieldsOf(JSON.parse(JSON.stringify(original)))
      return { path: `${path}/${textOf(test['name'])}`, test }
    }),
    ...(suite.suites ?? []).flatMap((inner) =>
      collect(inner, path === '' ? inner.name : `${path}/${inner.name}`),
    ),
  ]
  return collect(tests, '')
}

const base = [
  standardLibrary,
  optionalsLibrary,
  basicStringsOf(33),
  formattedStrings,
  reversedStrings,
  listsLibrary,
  { macros: twoVariableMacros },
  { macros: bindingMacros },
]
const BUDGET = 10_000_000

/** Runs a case. Returns a description of the failure, or undefined if the case passes. */
export function run({ test }: Case): string | undefined {
  const environment = environmentOf(test)
  const compiled = compile(textOf(test['expr']), environment)
  const wantsError = 'evalError' in test || 'anyEvalErrors' in test
  if ('fault' in compiled) return wantsError ? undefined : `${compiled.stage}: ${compiled.fault}`
  if (test['checkOnly'] === true) return undefined
  const result = compiled.program.evaluate(bindingsOf(test), BUDGET)
  if ('error' in result) return wantsError ? undefined : `error: ${result.error}`
  if (wantsError) return `gave a value: ${show(result.value)}`
  const wanted = valueOf(
    fieldsOf(test['value'] ?? fieldsOf(test['typedResult'])['result'] ?? { boolValue: true }),
  )
  const isSame =
    isEqual(result.value, wanted, { work: () => {} }) ||
    (Number.isNaN(wanted) && Number.isNaN(result.value))
  return isSame ? undefined : `gave ${show(result.value)}, wanted ${show(wanted)}`
}

const show = (value: Value): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ??
  'nothing'

function environmentOf(test: Fields): Environment {
  const environment = createEnvironment(base, {
    isHomogeneous: false,
    container: textOf(test['container']),
  })
  const declared = itemsOf(test['typeEnv']).flatMap((entry) => {
    const type = fieldsOf(fieldsOf(entry['ident'])['type'])
    return 'ident' in entry ? [[textOf(entry['name']), typeOf(type)] as const] : []
  })
  const bound = Object.keys(fieldsOf(test['bindings'])).map((name) => [name, types.dyn] as const)
  const macros = test['disableMacros'] === true ? new Map() : environment.macros
  return { ...withVariables(environment, Object.fromEntries([...bound, ...declared])), macros }
}

const primitives: { readonly [name: string]: types.Type } = {
  BOOL: types.bool,
  INT64: types.int,
  UINT64: types.uint,
  DOUBLE: types.double,
  STRING: types.string,
  BYTES: types.bytes,
  TIMESTAMP: types.timestamp,
  DURATION: types.duration,
}

function typeOf(type: Fields): types.Type {
  if ('primitive' in type) return primitives[textOf(type['primitive'])] ?? types.dyn
  if ('wellKnown' in type) return primitives[textOf(type['wellKnown'])] ?? types.dyn
  if ('listType' in type)
    return types.list(typeOf(fieldsOf(fieldsOf(type['listType'])['elemType'])))
  if ('mapType' in type) {
    const map = fieldsOf(type['mapType'])
    return types.map(typeOf(fieldsOf(map['keyType'])), typeOf(fieldsOf(map['valueType'])))
  }
  return 'type' in type ? types.typeOf(types.dyn) : types.dyn
}

function bindingsOf(test: Fields): { [name: string]: Value } {
  const entries = Object.entries(fieldsOf(test['bindings']))
  return Object.fromEntries(
    entries.map(([name, binding]) => [name, valueOf(fieldsOf(fieldsOf(binding)['value']))]),
  )
}

/** Converts cel.expr.Value from the JSON form of protobuf. */
export function valueOf(json: Fields): Value {
  const [kind = '', content] = Object.entries(json)[0] ?? []
  const reader = readers[kind]
  if (reader === undefined) throw new Error(`values of kind ${kind} are not supported`)
  return reader(content)
}

const readers: { readonly [kind: string]: (content: Json | undefined) => Value } = {
  nullValue: () => null,
  boolValue: (content) => content === true,
  int64Value: (content) => BigInt(textOf(content)),
  uint64Value: (content) => new Uint(BigInt(textOf(content))),
  doubleValue: Number,
  stringValue: textOf,
  bytesValue: (content) => Buffer.from(textOf(content), 'base64'),
  typeValue: (content) => new TypeValue(textOf(content)),
  listValue: (content) => new ArrayList(itemsOf(fieldsOf(content)['values']).map(valueOf)),
  mapValue: (content) => {
    let map = new HashMap()
    for (const { key, value } of itemsOf(fieldsOf(content)['entries'])) {
      const read = valueOf(fieldsOf(key))
      if (isKey(read)) map = map.with(read, valueOf(fieldsOf(value))) ?? map
    }
    return map
  },
  objectValue: (content) => wellKnown(fieldsOf(content)),
}

function wellKnown(object: Fields): Value {
  const type = textOf(object['@type'])
  const text = textOf(object['value'])
  if (type.endsWith('google.protobuf.Duration')) {
    const [whole = '0', fraction = ''] = text.replace('s', '').split('.')
    const nanos = BigInt(fraction.padEnd(9, '0').slice(0, 9))
    return new Duration(BigInt(whole) * 1_000_000_000n + (text.startsWith('-') ? -nanos : nanos))
  }
  if (type.endsWith('google.protobuf.Timestamp')) {
    const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
    const seconds = Date.parse(text.replace(/\.\d+/, '')) / 1000
    return new Timestamp(
      BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9)),
    )
  }
  throw new Error(`objects of type ${type} are not supported`)
}
