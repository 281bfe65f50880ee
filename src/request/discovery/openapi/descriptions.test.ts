import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fieldsOf } from '../../../api/object.ts'
import { defaultGatesOf } from '../../../api/gates.ts'
import { systemClock } from '../../../lib/time/clock.ts'
import { builtInResources } from '../../../registry/built-in.ts'
import { Registry } from '../../../registry/registry.ts'
import { readSources } from './descriptions.ts'
import { OpenApiLibrary } from './library.ts'

const CHARACTERS_MAX = 300
const SENTENCE_WORDS_MAX = 40

/** A line of a description file: the name of a type or field, and its description. */
type Line = { readonly path: string; readonly name: string; readonly text: string }

function linesOf(texts: string): readonly Line[] {
  const lines: Line[] = []
  let type = ''
  for (const line of texts.split('\n')) {
    if (line === '') continue
    const [, indent = '', name = '', text = ''] = /^( *)([^:]+): (.+)$/.exec(line) ?? []
    assert.notEqual(text, '', `"${line}" is not a name and a description`)
    if (indent === '') type = name
    lines.push({ path: indent === '' ? type : `${type}.${name}`, name, text })
  }
  return lines
}

const lines = linesOf(readSources())
/**
 * Published descriptions by definition, and by definition and property. A missing description is
 * empty.
 */
const published = new Map<string, string>()

/** The releases whose types have descriptions. */
const releases = [33, 34]

before(async () => {
  for (const release of releases) await publish(release)
})

/** Adds the descriptions in the documents of a release. A later release replaces them. */
async function publish(release: number): Promise<void> {
  const gates = { ...defaultGatesOf(release), isOn: () => true }
  const registry = new Registry(builtInResources({ isServed: () => true, gates }), release)
  const library = new OpenApiLibrary({ registry, hasIssuer: true, clock: systemClock, gates })
  for (const key of library.keys) {
    const json = (await library.v3(key))?.json.toString() ?? '{}'
    const { schemas } = fieldsOf(fieldsOf(JSON.parse(json))['components'])
    for (const [name, schema] of Object.entries(fieldsOf(schemas))) {
      const { description, properties } = fieldsOf(schema)
      published.set(name, textIn(description))
      for (const [field, property] of Object.entries(fieldsOf(properties)))
        published.set(`${name} ${field}`, textIn(fieldsOf(property)['description']))
    }
  }
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

test('every type and field of every built-in group and version has a description', () => {
  assert.ok(published.size > 3_500, `${published.size} types and fields`)
  const missing = [...published].filter(([, text]) => text === '').map(([path]) => path)
  assert.deepEqual(missing, [])
})

/** Entries that contain only the descriptions of fields of other types. */
const bases: ReadonlySet<string> = new Set(['Kind', 'Any', 'List'])

test('every description is published in the OpenAPI documents', () => {
  const texts = new Set(published.values())
  const unused = lines.filter(({ path, text }) => !texts.has(text) && !bases.has(path))
  assert.deepEqual(
    unused.map(({ path }) => path),
    [],
  )
})

test('no type or field is described twice', () => {
  const paths = lines.map(({ path }) => path.replace(/ like \w+$/, ''))
  assert.deepEqual(
    paths.filter((path, at) => paths.indexOf(path) !== at),
    [],
  )
})

const emptyWords = new Set('a an the of for is this field value name'.split(' '))

/**
 * Returns the words of a name or description in lower case, without words that add no information.
 */
const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !emptyWords.has(word))

const styleRules: { readonly [rule: string]: (line: Line) => boolean } = {
  'every description is one line of ASCII': ({ text }) =>
    /^[ -~]+$/.test(text) && text === text.trim(),
  'every description begins with a capital letter or a number': ({ text }) =>
    /^[A-Z0-9]/.test(text),
  'every description ends with a period': ({ text }) => text.endsWith('.') && !text.endsWith('..'),
  [`every description has at most ${CHARACTERS_MAX} characters`]: ({ text }) =>
    text.length <= CHARACTERS_MAX,
  [`every sentence has at most ${SENTENCE_WORDS_MAX} words`]: ({ text }) =>
    text.split(/[.;:] /).every((one) => one.split(' ').length <= SENTENCE_WORDS_MAX),
  'no description speaks of "this field"': ({ text }) =>
    !/\bthis (?:field|property|type)\b/i.test(text),
  'every description says more than the name': ({ name, text }) => {
    const known = new Set(wordsOf(name))
    return wordsOf(text).some((word) => !known.has(word))
  },
}

for (const [rule, holds] of Object.entries(styleRules)) {
  test(rule, () => {
    const faults = lines.filter((line) => !holds(line))
    assert.deepEqual(
      faults.map(({ path, text }) => `${path}: ${text}`),
      [],
    )
  })
}
