/**
 * Generates docs/reference/testing.md: the exports of `keelson/testing`, with their types and doc
 * comments. TypeScript 7 has no interface for programs, so this script reads the sources as text.
 * It relies on the formatter: declarations begin in column 0, and members of a class in column 2.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { code, type Page, page, table, wrapped } from './markdown.ts'

const index = join(import.meta.dirname, '..', '..', 'src', 'entry', 'testing', 'index.ts')

type Declaration = {
  readonly name: string
  readonly file: string
  readonly kind: 'function' | 'class' | 'type'
  /** Text of the doc comment, in one line. */
  readonly doc: string
  readonly lines: readonly string[]
}

type Member = { readonly name: string; readonly doc: string; readonly signature: string }

export function testingPage(): Page {
  const declarations = exportedNames().map(({ name, file }) => readDeclaration(name, file))
  const sections = (['function', 'class', 'type'] as const).flatMap((kind) =>
    declarations.filter((one) => one.kind === kind).map(sectionOf),
  )
  return page(
    'testing.md',
    'keelson/testing',
    `The exports of \`keelson/testing\`. They follow semantic versioning.
[Test with keelson/testing](../testing.md) explains how to use them.`,
    ...sections,
  )
}

/** Returns the exports of the package's index.ts, with the files that declare them. */
function exportedNames(): readonly { readonly name: string; readonly file: string }[] {
  const exports = readFileSync(index, 'utf8').matchAll(
    /^export (?:type )?\{ ([^}]+) \} from '([^']+)'/gm,
  )
  return [...exports].flatMap(([, names = '', from = '']) =>
    names.split(',').map((name) => ({
      name: name.trim().replace(/^type /, ''),
      file: join(dirname(index), from),
    })),
  )
}

function readDeclaration(name: string, file: string): Declaration {
  const lines = readFileSync(file, 'utf8').split('\n')
  const pattern = new RegExp(`^export (?:async )?(function|class|type) ${name}\\b`)
  const start = lines.findIndex((line) => pattern.test(line))
  const [, kind] = pattern.exec(lines[start] ?? '') ?? []
  if (kind !== 'function' && kind !== 'class' && kind !== 'type')
    throw new Error(`${file} does not declare ${name} in a form that this script reads`)
  const length = lines.slice(start + 1).findIndex((line) => /^(?:\}|\S|$)/.test(line))
  const last = lines.slice(start + 1).findIndex((line) => line.startsWith('}'))
  const isBlock = kind !== 'type' || lines[start]?.endsWith('{') === true
  const end = start + 1 + (isBlock ? last + 1 : length)
  return { name, file, kind, doc: docBefore(lines, start), lines: lines.slice(start, end) }
}

/** Returns the text of the doc comment that ends before a line. */
function docBefore(lines: readonly string[], at: number): string {
  if (lines[at - 1]?.endsWith('*/') !== true) return ''
  const before = lines.slice(0, at)
  const start = before.findLastIndex((line) => line.trimStart().startsWith('/**'))
  return before
    .slice(start)
    .map((line) =>
      line
        .trim()
        .replace(/^\/?\*+\/? ?/, '')
        .replace(/ ?\*\/$/, ''),
    )
    .join(' ')
    .trim()
}

function sectionOf({ name, file, kind, doc, lines }: Declaration): string {
  const head = [`## ${name}`, ...(doc === '' ? [] : [wrapped(doc)])]
  if (kind === 'function') return [...head, fence(signatureOf(lines, 0))].join('\n\n')
  if (kind === 'type') return [...head, typeText(lines, file)].join('\n\n')
  const members = membersOf(lines).map((member) =>
    [
      `### ${name}${member.name.startsWith('[') ? '' : '.'}${member.name}`,
      wrapped(member.doc),
      fence(member.signature),
    ]
      .filter((text) => text !== '')
      .join('\n\n'),
  )
  return [...head, ...members].join('\n\n')
}

const fence = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``

const modifiers = 'readonly|static|async|get'
const memberPattern = new RegExp(
  `^ {2}(?:(?:${modifiers}) )*(?!(?:${modifiers}|private|constructor)\\b)(\\w+|\\[Symbol\\.\\w+\\])[(:<? ]`,
)

/** Returns the public members of a class. */
function membersOf(lines: readonly string[]): readonly Member[] {
  return lines.flatMap((line, at) => {
    const [, name] = memberPattern.exec(line) ?? []
    const doc = docBefore(lines, at)
    if (name === undefined || doc.includes('@internal')) return []
    return [{ name, doc, signature: signatureOf(lines, at) }]
  })
}

/** Returns the declaration that begins in a line, without its body and its default values. */
function signatureOf(lines: readonly string[], at: number): string {
  const first = lines[at] ?? ''
  const isMethod = /[(<]/.test(first.replace(/:.*/, ''))
  const rest = lines.slice(at)
  const end = isMethod ? rest.findIndex((line) => line.endsWith(' {')) : 0
  const indent = /^ */.exec(first)?.[0].length ?? 0
  return rest
    .slice(0, end + 1)
    .map((line) => line.slice(indent))
    .join('\n')
    .replace(/ \{$/, '')
    .replace(/^export /, '')
    .replace(/^async /, '')
    .replaceAll(/(\w+): (\w+) = \{\}/g, '$1?: $2')
    .replace(/ = \d+$/, ': number')
}

type Field = {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly doc: string
}

/** Returns a table of the fields of an object type. Other types are shown as they are. */
function typeText(lines: readonly string[], file: string): string {
  const fields = fieldsOf(lines)
  const [, base] = /^export type \w+ = (\w+) & \{$/.exec(lines[0] ?? '') ?? []
  const inherited = base === undefined ? [] : fieldsOf(readImported(base, file).lines)
  const codeLines = lines.filter((line) => !/^ {2,}(?:\/\*\*|\*)/.test(line))
  // Apart from the two lines with the braces, each line must be one field. Otherwise a field has a
  // type of several lines, and the declaration is shown as it is.
  if (fields.length === 0 || codeLines.length !== fields.length + 2)
    return fence(withoutReadonly(lines.join('\n').replace(/^export /, '')))
  return table(['Field', 'Type', 'Required', 'Description'], [...inherited, ...fields].map(rowOf))
}

const rowOf = ({ name, type, isRequired, doc }: Field): readonly string[] => [
  code(name),
  code(withoutReadonly(type)),
  isRequired ? 'yes' : 'no',
  doc,
]

function fieldsOf(lines: readonly string[]): readonly Field[] {
  return lines.flatMap((line, at) => {
    const [, name, mark, type] = /^ {2}readonly ([\w']+)(\??): (.+)$/.exec(line) ?? []
    return name === undefined || type === undefined
      ? []
      : [{ name, isRequired: mark === '', type, doc: docBefore(lines, at) }]
  })
}

/** Reads a declaration that a file imports. */
function readImported(name: string, file: string): Declaration {
  const pattern = new RegExp(`^import [^;']*\\b${name}\\b[^;']* from '([^']+)'`, 'm')
  const [, from] = pattern.exec(readFileSync(file, 'utf8')) ?? []
  if (from === undefined) throw new Error(`${file} does not import ${name}`)
  return readDeclaration(name, join(dirname(file), from))
}

const withoutReadonly = (text: string): string => text.replaceAll('readonly ', '')
