/**
 * Reads the manifests in a text, which contains YAML documents or one JSON value. Each manifest
 * contains the line of its document, for error messages.
 */
import { parseJson } from '../../api/json-value.ts'
import { fieldsOf, isFields, type Json, type KubeObject } from '../../api/object.ts'
import { YamlError } from '../../objects/codec/yaml-error.ts'
import { parseYaml } from '../../objects/codec/yaml-parse.ts'
import { describeObject, keyOf } from './object-names.ts'

export type Manifest = {
  readonly object: KubeObject
  /** Where the manifest is, such as `shop/web.yaml:12`. */
  readonly source: string
}

export type ParsedManifests = {
  readonly manifests: readonly Manifest[]
  /** Error messages, each of which begins with the file and the line. */
  readonly faults: readonly string[]
}

/**
 * Returns the place of a line for error messages, such as `shop/web.yaml:12`. The first line is 1.
 */
export type DescribeLine = (line: number) => string

/**
 * Returns the manifests in a text. Documents without `apiVersion` and `kind` are ignored, because
 * they are files of other programs, such as the values of a Helm chart.
 */
export function parseManifests(text: string, describeLine: DescribeLine): ParsedManifests {
  const manifests: Manifest[] = []
  const faults: string[] = []
  for (const document of documentsOf(text)) {
    const source = describeLine(document.line)
    try {
      const { value, duplicates } = parseDocument(document.text)
      const lines = duplicates.map((message) => {
        const [, line = '1', reason = message] = /^line (\d+): ([^]*)$/.exec(message) ?? []
        return `${describeLine(document.firstLine + Number(line) - 1)}: ${reason}`
      })
      faults.push(...lines)
      if (lines.length === 0) addManifests(value, source, { manifests, faults })
    } catch (error) {
      if (!(error instanceof YamlError)) throw error
      const line = error.line === undefined ? document.line : document.firstLine + error.line - 1
      faults.push(`${describeLine(line)}: ${error.message.replace(/^yaml: (?:line \d+: )?/, '')}`)
    }
  }
  return { manifests, faults }
}

type YamlDocument = {
  readonly text: string
  /** The line in the file at which the text of the document begins. */
  readonly firstLine: number
  /** The line in the file at which the content begins, after empty lines, comments and `---`. */
  readonly line: number
}

const skippedLine = /^(?:---)?[ \t\r]*(?:#.*)?$/
/** A line that may stand between `---` and the end of the previous document. */
const preambleLine = /^(?:\ufeff?[ \t\r]*(?:#.*)?|%.*)$/

/** Returns the documents of a text. `---` and `...` in the first column are always markers. */
function documentsOf(text: string): readonly YamlDocument[] {
  const documents: YamlDocument[] = []
  const lines = text.split('\n')
  let start = 0
  const end = (at: number): void => {
    const own = lines.slice(start, at)
    const content = own.findIndex((line) => !skippedLine.test(line))
    if (content !== -1)
      documents.push({ text: own.join('\n'), firstLine: start + 1, line: start + content + 1 })
    start = at
  }
  for (const [at, line] of lines.entries()) {
    if (/^\.\.\.\s*$/.test(line)) {
      end(at)
      start = at + 1
    } else if (/^---(?:\s|$)/.test(line) && !isPreamble(lines, start, at)) end(at)
  }
  end(lines.length)
  return documents
}

/** Whether the lines contain only directives, comments and white space. */
function isPreamble(lines: readonly string[], start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!preambleLine.test(lines[at] ?? '')) return false
  return true
}

/**
 * Parses a document. A document that begins like JSON is parsed as JSON first, because JSON may be
 * indented with tabs. If that fails, the YAML parser reports the line of the error.
 */
function parseDocument(text: string): { value: Json; duplicates: readonly string[] } {
  if (/^\s*[[{]/.test(text)) {
    try {
      return { value: parseJson(Buffer.from(text)), duplicates: [] }
    } catch {
      // The text is not JSON. The YAML parser may still be able to read it, and otherwise reports
      // the line of the error.
    }
  }
  return parseYaml(Buffer.from(text))
}

type Collected = { readonly manifests: Manifest[]; readonly faults: string[] }

/** Adds the manifests of a value, which is an object or a List of objects. */
export function addManifests(value: Json, source: string, into: Collected): void {
  const { apiVersion, kind, items, metadata } = fieldsOf(value)
  if (apiVersion === undefined && kind === undefined) return
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    into.faults.push(`${source}: apiVersion is missing: add it, such as apiVersion: v1`)
  } else if (typeof kind !== 'string' || kind === '') {
    into.faults.push(`${source}: kind is missing: add it, such as kind: ConfigMap`)
  } else if (kind.endsWith('List') && Array.isArray(items)) {
    items.forEach((item: Json, at) => {
      const where = `${source}: items[${at}]`
      const { apiVersion: itemVersion, kind: itemKind } = fieldsOf(item)
      if (itemVersion === undefined && itemKind === undefined)
        into.faults.push(`${where}: apiVersion and kind are missing`)
      else addManifests(item, where, into)
    })
  } else if (!isFields(metadata) || typeof metadata['name'] !== 'string' || metadata['name'] === '')
    into.faults.push(
      `${source}: metadata.name is missing: set it, because an object without a name cannot be applied`,
    )
  else into.manifests.push({ object: { ...fieldsOf(value), apiVersion, kind, metadata }, source })
}

/**
 * If several manifests describe the same object, keeps the first one, and returns an error for each
 * of the others.
 */
export function withoutDuplicates(manifests: readonly Manifest[]): ParsedManifests {
  const first = new Map<string, Manifest>()
  const faults: string[] = []
  for (const manifest of manifests) {
    const key = keyOf(manifest.object)
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, manifest)
    else {
      faults.push(
        `${manifest.source}: ${describeObject(manifest.object)} is also in ${earlier.source}: remove one of them`,
      )
    }
  }
  return { manifests: [...first.values()], faults }
}
