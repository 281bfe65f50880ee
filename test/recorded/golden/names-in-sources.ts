/** Searches the source files for names that users depend on. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the keys of the fields in calls such as `log('warn', 'message', { key: value })`. */
export function logKeys(root: string): string[] {
  return unique(sources(root).flatMap((text) => [...keysOfCalls(text)]))
}

/** Returns API groups, versions, labels and annotations of Kubernetes and of Keelson. */
export function apiStrings(root: string): string[] {
  const name = /(?:[a-z0-9-]+\.)*(?:k8s|kubernetes|keelson)\.(?:io|dev)(?:\/[\w.:{}$-]*)*/
  // Leave out names of Kubernetes' source files, which occur in messages of Kubernetes.
  return stringsOf(root, name).filter((text) => !/\.go:\d+$/.test(text))
}

/**
 * Returns the strings that contain the name Keelson, such as names of files, leases and field
 * managers. Names of metrics are left out.
 */
export function ownStrings(root: string): string[] {
  // Keep `keelson_import`, which is not a metric. This key marks an incomplete import in etcd.
  return stringsOf(root, /[^\s'"`]*keelson[^\s'"`]*/i).filter(
    (text) => !text.startsWith('keelson_') || text === 'keelson_import',
  )
}

export function environmentVariables(root: string): string[] {
  return matchesIn(sources(root), /\benv\[['"]([A-Z_]+)['"]\]/g)
}

/** Returns the flags of `keelson serve` that a command or `keelson/testing` sets. */
export function presetFlags(root: string, folder: string): string[] {
  return matchesIn(sources(root, `src/entry/${folder}`), /'(--[a-z-]+=[^'$]+)'/g)
}

export const unique = (list: readonly string[]): string[] =>
  [...new Set(list)].filter((one) => one !== '').toSorted()

/**
 * Returns the contents of the source files, without tests, generated code and recorded
 * descriptions.
 */
function sources(root: string, folder = 'src'): string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root })
    .filter((file) => !/\.test\.ts$|\/catalogue\/|\/openapi\/texts\//.test(file))
    .map((file) => readFileSync(join(root, file), 'utf8'))
}

/**
 * Returns the string literals whose whole content matches `content`. String literals in imports and
 * comments are ignored.
 */
function stringsOf(root: string, content: RegExp): string[] {
  const texts = sources(root).map((text) =>
    text.replaceAll(/^\s*(?:\/?\*|\/\/).*$|\bfrom '.*$|\bimport\('.*$/gm, ''),
  )
  const pattern = new RegExp(
    `(?<quote>['"\`])(?<text>${content.source})\\k<quote>`,
    `g${content.flags}`,
  )
  return unique(
    texts.flatMap((text) =>
      [...text.matchAll(pattern)].map(({ groups }) => groups?.['text'] ?? ''),
    ),
  )
}

function matchesIn(texts: readonly string[], pattern: RegExp): string[] {
  return unique(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found = '']) => found)))
}

function* keysOfCalls(text: string): Generator<string> {
  const calls = /\blog\(|\b\w+\((?=\s*'(?:debug|info|warn|error)',)/g
  for (const { 0: call, index } of text.matchAll(calls)) {
    const [, , fields = ''] = argumentsAt(text, index + call.length)
    if (!fields.startsWith('{')) continue
    for (const member of argumentsAt(fields, 1)) {
      const [, key] = /^(\w+)\s*(?:$|:)/.exec(member) ?? /^'([^']+)':/.exec(member) ?? []
      if (key !== undefined) yield key
    }
  }
}

/** Returns the arguments from a position up to the closing parenthesis, split at commas. */
function argumentsAt(text: string, start: number): string[] {
  const found: string[] = []
  let depth = 0
  let from = start
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    if (`'"\``.includes(character)) at = endOfString(text, at)
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character) && depth-- === 0) {
      found.push(text.slice(from, at))
      break
    } else if (character === ',' && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
    }
  }
  return found.map((one) => one.trim()).filter((one) => one !== '')
}

function endOfString(text: string, start: number): number {
  const quote = text.charAt(start)
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++
    else if (text.charAt(at) === quote) return at
  }
  return text.length
}
