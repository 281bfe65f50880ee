/**
 * Checks the language of comments, test names, help texts and documents (docs/style.md, section 1):
 * lines have at most 100 columns, sentences at most 40 words, and none of the patterns below.
 * Prints every violation and exits with 1 if there is one. Arguments are path prefixes that limit
 * the check.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Prose, proseFiles, proseOf, root } from './prose.ts'

const COLUMNS_MAX = 100
/**
 * Maximum number of words per sentence. The style guide recommends about 25; this limit finds
 * sentences that must be split.
 */
const WORDS_MAX = 40

type Pattern = { readonly pattern: RegExp; readonly advice: string }

/** Patterns that apply to all texts. */
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

/** Pattern for doc comments, which must be understandable on their own. */
const docPattern: Pattern = {
  pattern:
    /^(?:Of|By|As|Than|To|In|With|At|On|From|And|But|Or|Whose|None|Nothing|The same)\b|^…|…$/,
  advice: 'a doc comment stands on its own: begin with what the thing is or does',
}

/** Removes quoted text and code, which are examples and do not follow the rules. */
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

const only = process.argv.slice(2)
const files = proseFiles().filter(
  (path) => only.length === 0 || only.some((prefix) => path.startsWith(prefix)),
)

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
