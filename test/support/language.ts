/**
 * Checks the language of comments, test names, help texts and documents (docs/style.md, section 1):
 * lines have at most 100 columns, sentences at most 40 words, and none of the patterns below.
 * Prints every fault and exits with 1 if there is one. Arguments limit the check to files whose
 * path begins with one of them.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const COLUMNS_MAX = 100
/** The style guide wants about 25. This limit finds the sentences that need to be cut. */
const WORDS_MAX = 40

type Pattern = { readonly pattern: RegExp; readonly advice: string }

/** Patterns of all prose. */
const patterns: readonly Pattern[] = [
  {
    pattern: /(?:^|[.;:] )(?:Who|What|Whoever|Whatever|Whose)\b(?![^.]*\?)/,
    advice: 'name the subject instead of "who" or "what"',
  },
  {
    pattern: /\b(?:of|for|to|by|with|from|than|and|but|or|only|also) who\b|, who (?!may)/,
    advice: 'name the person, the client or the user',
  },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were|be) (?:none\b|no (?!longer\b|more\b|other\b))/i,
    advice: 'write "is not a" instead of "is no", or name the subject instead of "none"',
  },
  { pattern: /, (?:too|also)(?:[.,;:)!]|$)/, advice: 'write "also" before the verb' },
  { pattern: /\b(?:told|tells|tell)\b/, advice: 'write "reported", "logged" or "notified"' },
  { pattern: /\bso (?:many|long|few)\b/, advice: 'write "this many"' },
  { pattern: /\b(?:he|him|his|himself|she|her)\b/, advice: 'a client or user is "it" or "they"' },
  { pattern: /\b(?:anew|lately|one's own)\b/, advice: 'write "again", "recently" or "own"' },
  { pattern: /\b(?:no|some|every)body\b/i, advice: 'name the client, the user or the caller' },
  { pattern: /\b(?:is|are|was|were) (?:to be|looked at)\b/, advice: 'use an active verb' },
  { pattern: /\b(?:goes|went|going) on\b/, advice: 'write "continues"' },
]

/** Patterns of doc comments, which stand on their own. */
const docPattern: Pattern = {
  pattern:
    /^(?:Of|By|As|Than|To|In|With|At|On|From|And|But|Or|Whose|None|Nothing|The same)\b|^…|…$/,
  advice: 'a doc comment stands on its own: begin with what the thing is or does',
}

/** Recorded or generated text. */
const skipped =
  /\/gen\/|recorded\/\w+\/(?:scenarios|recordings|fixtures|data)\/|^src\/registry\/catalogue\/|package-lock/

type Prose = { readonly line: number; readonly text: string; readonly isDoc: boolean }

function* proseOfTypeScript(lines: readonly string[]): Generator<Prose> {
  let block: { line: number; text: string; isDoc: boolean } | undefined
  for (const [index, raw] of [...lines, ''].entries()) {
    const comment = /^\s*(\/\*\*?|\/\/|\*(?!\/))\s?(.*?)\s*(?:\*\/)?$/.exec(raw)
    const [, mark = '', text = ''] = comment ?? []
    const continues = comment !== null && mark !== '/**' && text !== '' && block !== undefined
    if (!continues && block !== undefined) {
      yield block
      block = undefined
    }
    if (comment === null) yield* namesAndHelp(raw, index + 1)
    else if (block === undefined) block = { line: index + 1, text, isDoc: mark === '/**' }
    else block = { ...block, text: `${block.text} ${text}`.trim() }
  }
}

/** The name of a test, or a text that a user reads. */
function* namesAndHelp(raw: string, line: number): Generator<Prose> {
  const match =
    /\b(?:test|it|describe|suite)(?:\.\w+)?\((['"`])(.*?)\1[,)]/.exec(raw) ??
    /\b(?:help|usage|summary): (['"`])(.*)\1/.exec(raw) ??
    /\b(?:info|warn|error)\((['"`])(.*?)\1[,)]/.exec(raw)
  if (match?.[2] !== undefined) yield { line, text: match[2], isDoc: false }
}

function* proseOfScript(lines: readonly string[], mark: RegExp): Generator<Prose> {
  let block: Prose | undefined
  for (const [index, raw] of [...lines, ''].entries()) {
    const text = mark.exec(raw)?.[1]
    if (text !== undefined && text !== '') {
      block = {
        line: block?.line ?? index + 1,
        text: `${block?.text ?? ''} ${text}`.trim(),
        isDoc: false,
      }
    } else if (block !== undefined) {
      yield block
      block = undefined
    }
  }
}

function* proseOfMarkdown(lines: readonly string[]): Generator<Prose> {
  let isCode = false
  let block: Prose | undefined
  for (const [index, raw] of [...lines, ''].entries()) {
    if (raw.trimStart().startsWith('```')) isCode = !isCode
    const begins = /^\s*(?:[-*] |\d+\. |\||#|>|```|<)/.test(raw)
    if (block !== undefined && (isCode || begins || raw.trim() === '')) {
      yield block
      block = undefined
    }
    if (isCode || raw.trim() === '' || raw.trimStart().startsWith('```')) continue
    const text = raw.trim().replace(/^(?:[-*] |\d+\. |#+ )/, '')
    if (raw.trimStart().startsWith('|')) {
      for (const cell of raw.split('|')) yield { line: index + 1, text: cell.trim(), isDoc: false }
    } else {
      block = {
        line: block?.line ?? index + 1,
        text: `${block?.text ?? ''} ${text}`.trim(),
        isDoc: false,
      }
    }
  }
}

/** Quoted text and code are examples, and do not follow the rules. */
const withoutQuotes = (text: string): string =>
  text.replaceAll(/`[^`]*`/g, 'code').replaceAll(/"[^"]*"/g, 'quote')

function* faultsOf({ text, isDoc }: Prose): Generator<string> {
  const plain = withoutQuotes(text)
  for (const { pattern, advice } of isDoc ? [...patterns, docPattern] : patterns) {
    const match = pattern.exec(plain)
    if (match) yield `"${match[0].trim()}": ${advice}`
  }
  for (const sentence of plain.split(/[.:;?!](?:\s|$)/)) {
    const words = sentence.split(/\s+/).length
    if (words > WORDS_MAX) yield `a sentence of ${words} words; at most ${WORDS_MAX} are allowed`
  }
}

/** Whether a line is too wide. A single long word, such as a URL, cannot be broken. */
const isTooWide = (raw: string): boolean =>
  raw.length > COLUMNS_MAX && /\S\s+\S/.test(raw.trim().replace(/^(?:\/\/|\*|\/\*\*|#|[-*]) /, ''))

function* widthFaults(lines: readonly string[], path: string): Generator<[number, string]> {
  let isCode = false
  for (const [index, raw] of lines.entries()) {
    if (path.endsWith('.md')) {
      if (raw.trimStart().startsWith('```')) isCode = !isCode
      if (isCode || raw.trimStart().startsWith('|') || /^(?:\s*!\[| {4}\S)/.test(raw)) continue
    } else if (!/^\s*(?:\/\/|\/\*|\*|#(?!\[))/.test(raw)) continue
    if (isTooWide(raw))
      yield [index + 1, `${raw.length} columns; at most ${COLUMNS_MAX} are allowed`]
  }
}

function proseOf(path: string, lines: readonly string[]): Iterable<Prose> {
  if (path.endsWith('.md')) return proseOfMarkdown(lines)
  if (/\.(?:ts|mjs|go|rs|java)$/.test(path)) return proseOfTypeScript(lines)
  return proseOfScript(lines, /^\s*# ?(.*)$/)
}

const root = join(import.meta.dirname, '..', '..')
const only = process.argv.slice(2)
const listing = ['ls-files', '--cached', '--others', '--exclude-standard']
const files = execFileSync('git', listing, { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:ts|mjs|go|rs|java|py|md|sh|ya?ml|service)$|^\.ci\/run$/.test(path))
  .filter((path) => !skipped.test(path) && existsSync(join(root, path)))
  .filter((path) => only.length === 0 || only.some((prefix) => path.startsWith(prefix)))

let faults = 0
for (const path of files) {
  const lines = readFileSync(join(root, path), 'utf8').split('\n')
  const found: [number, string][] = [...widthFaults(lines, path)]
  for (const prose of proseOf(path, lines))
    for (const fault of faultsOf(prose)) found.push([prose.line, fault])
  for (const [line, fault] of found.toSorted(([a], [b]) => a - b))
    console.error(`${path}:${line}: ${fault}`)
  faults += found.length
}
if (faults > 0) console.error('docs/style.md, section 1, has the rules with examples')
console.log(`language: ${files.length} files, ${faults} faults`)
process.exitCode = faults > 0 ? 1 : 0
