/**
 * Tests that every relative link in our Markdown files leads to an existing file, and every anchor
 * to a heading in that file.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..', '..')

/** Files that git tracks or would add. This excludes node_modules. */
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

test('the targets of all links and anchors exist', () => {
  assert.ok(files.includes('README.md'))
  const broken = files.flatMap((file) => linksOf(file).flatMap((link) => faultOf(file, link) ?? []))
  assert.deepEqual(broken, [])
})

test('Markdown files that are mentioned in the text exist', () => {
  const gone = files.flatMap((file) =>
    [...prose(file).matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md/g)]
      .filter(([named]) => !existsSync(join(root, named)))
      .map(([named]) => `${file}: ${named}`),
  )
  assert.deepEqual(gone, [])
})

test('source files that the architecture page mentions exist, and the page mentions every folder of src/', () => {
  const page = readFileSync(join(root, 'docs', 'ARCHITECTURE.md'), 'utf8')
  const named = [...page.matchAll(/`([\w-]+\/(?:[\w/.-]*(?:\.ts|\/))?)`/g)].map(
    ([, path = '']) => path,
  )
  const missing = named.filter(
    (path) => !existsSync(join(root, 'src', path)) && !existsSync(join(root, path)),
  )
  assert.deepEqual(
    missing.filter((path) => path.endsWith('.ts')),
    [],
  )
  const folders = readdirSync(join(root, 'src')).filter((name) => !name.includes('.'))
  assert.deepEqual(
    folders.filter((name) => !named.includes(`${name}/`)),
    [],
  )
})

test('anchors are formed in the same way as on GitHub', () => {
  assert.deepEqual(
    anchorsOf('# A `b`: c, d\n## A b c d\n## Same\n## Same\n```\n# not one\n```\n'),
    ['a-b-c-d', 'a-b-c-d-1', 'same', 'same-1'],
  )
})

function faultOf(file: string, link: string): string | undefined {
  if (/^[a-z]+:/i.test(link)) return undefined
  const [path = '', anchor] = link.split('#')
  const target =
    path === '' ? join(root, file) : join(root, dirname(file), decodeURIComponent(path))
  if (!existsSync(target)) return `${file}: ${link} does not exist`
  if (anchor === undefined || !target.endsWith('.md')) return undefined
  const anchors = anchorsOf(readFileSync(target, 'utf8'))
  return anchors.includes(anchor)
    ? undefined
    : `${file}: ${relative(root, target)} has no heading #${anchor}`
}

/**
 * Returns the targets in `[text](link)`, `![text](link "title")`, `[name]: link` and the HTML
 * attributes src, srcset and href.
 */
function linksOf(file: string): readonly string[] {
  const text = prose(file)
  return [
    ...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
    ...text.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm),
    ...text.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g),
  ].map(([, link = '']) => link)
}

/** Returns the text of a page without code, which might look like a link. */
const prose = (file: string): string =>
  withoutFences(readFileSync(join(root, file), 'utf8')).replaceAll(/`[^`\n]+`/g, '')

function withoutFences(text: string): string {
  let isInside = false
  const kept = text.split('\n').filter((line) => {
    const isFence = /^\s*(```|~~~)/.test(line)
    if (isFence) isInside = !isInside
    return !isFence && !isInside
  })
  return kept.join('\n')
}

function anchorsOf(text: string): readonly string[] {
  const seen = new Map<string, number>()
  return [...withoutFences(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, heading = '']) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
    const slug = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
}
