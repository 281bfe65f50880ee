/**
 * Finds the texts of the repository that people read: comments, test names, help texts, log lines
 * and documents. `language.ts` checks these texts; `language-sample.ts` draws samples from them.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** A paragraph of a comment or document, or one string. */
export type Prose = {
  readonly kind: 'comment' | 'message' | 'test' | 'document' | 'cell'
  readonly line: number
  readonly text: string
  /** Whether the paragraph begins a doc comment. */
  readonly isDoc: boolean
  /** The range of lines of the comment that contains the paragraph. */
  readonly comment?: { readonly from: number; readonly to: number }
}

/** Matches files with recorded or generated text. */
const skipped =
  /\/gen\/|recorded\/\w+\/(?:scenarios|recordings|fixtures|data)\/|^src\/registry\/catalogue\/|package-lock/

/** Returns the paths of the files that contain prose. Recorded and generated files are left out. */
export function proseFiles(): readonly string[] {
  const listing = ['ls-files', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', listing, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.(?:ts|mjs|go|rs|java|py|md|sh|ya?ml|service)$|^\.ci\/run$/.test(path))
    .filter((path) => !skipped.test(path) && existsSync(join(root, path)))
}

export function proseOf(path: string, lines: readonly string[]): Iterable<Prose> {
  if (path.endsWith('.md')) return proseOfMarkdown(lines)
  if (/\.(?:ts|mjs|go|rs|java)$/.test(path)) return proseOfTypeScript(lines)
  return proseOfScript(lines)
}

function* proseOfTypeScript(lines: readonly string[]): Generator<Prose> {
  let paragraphs: Prose[] = []
  for (const [index, raw] of [...lines, ''].entries()) {
    const comment = /^\s*(\/\*\*?|\/\/|\*(?=\s|$))\s?(.*?)\s*(?:\*\/)?$/.exec(raw)
    const [, mark = '', text = ''] = comment ?? []
    if (comment === null || mark === '/**') {
      yield* wholeComment(paragraphs, index)
      paragraphs = []
    }
    const last = paragraphs.at(-1)
    if (comment === null) yield* namesAndMessages(raw, index + 1, lines[index - 1])
    else if (last === undefined || text === '')
      paragraphs.push({ kind: 'comment', line: index + 1, text, isDoc: mark === '/**' })
    else paragraphs[paragraphs.length - 1] = { ...last, text: `${last.text} ${text}`.trim() }
  }
}

/**
 * Yields the paragraphs of a comment. Each of them gets the first and the last line (`to`) of the
 * comment.
 */
function* wholeComment(paragraphs: readonly Prose[], to: number): Generator<Prose> {
  const from = paragraphs[0]?.line ?? to
  for (const paragraph of paragraphs)
    if (paragraph.text !== '') yield { ...paragraph, comment: { from, to } }
}

/**
 * Yields the name of a test or a message, if the line contains one. If `before`, the previous line,
 * ends with a call or a key, the string is on a line of its own.
 */
function* namesAndMessages(raw: string, line: number, before = ''): Generator<Prose> {
  const test =
    /\b(?:test|it|describe|suite)(?:\.\w+)?\((['"`])(.*?)\1[,)]/.exec(raw) ??
    (/\b(?:test|it|describe|suite)(?:\.\w+)?\($/.test(before) ? ownLine.exec(raw) : null)
  const message =
    /\b(?:help|usage|summary): (['"`])((?:\\.|(?!\1).)*)\1/.exec(raw) ??
    /\b(?:info|warn|error)\((['"`])(.*?)\1[,)]/.exec(raw) ??
    /\(\s*'(?:debug|info|warn|error)', (['"`])(.*?)\1[,)]/.exec(raw) ??
    (/\b(?:help|usage|summary):$|^\s*'(?:debug|info|warn|error)',$/.test(before)
      ? ownLine.exec(raw)
      : null)
  const match = test ?? message
  if (match?.[2] === undefined) return
  yield { kind: test === null ? 'message' : 'test', line, text: match[2], isDoc: false }
}

/** Matches a string on its own line. */
const ownLine = /^\s*(['"`])(.*)\1,?$/

function* proseOfScript(lines: readonly string[]): Generator<Prose> {
  let block: Prose | undefined
  for (const [index, raw] of [...lines, ''].entries()) {
    const text = /^\s*# ?(.*)$/.exec(raw)?.[1]
    if (text !== undefined && text !== '') {
      block = {
        kind: 'comment',
        line: block?.line ?? index + 1,
        text: `${block?.text ?? ''} ${text}`.trim(),
        isDoc: false,
      }
    } else if (block !== undefined) {
      yield { ...block, comment: { from: block.line, to: index } }
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
    const line = block?.line ?? index + 1
    const text = raw.trim().replace(/^(?:[-*] |\d+\. |#+ )/, '')
    if (raw.trimStart().startsWith('|')) {
      for (const cell of raw.split('|'))
        yield { kind: 'cell', line, text: cell.trim(), isDoc: false }
    } else
      block = { kind: 'document', line, text: `${block?.text ?? ''} ${text}`.trim(), isDoc: false }
  }
}
