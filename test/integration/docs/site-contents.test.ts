/** Tests how the documentation site is made from our Markdown. Nothing is built here. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { testingPage } from '../../../scripts/reference/testing.ts'
import { readContents, readReaders, readSummary } from '../../../site/contents.ts'
import { anchorOf, pageOf, repository, root, siteLink } from '../../../site/pages.ts'

const contents = readContents()
const listed = new Set(contents.flatMap(({ items }) => items.map(({ link }) => link)))

test('links to pages lead to the site, and other links to the repository', () => {
  const cases: readonly [file: string, link: string, expected: string][] = [
    ['docs/start.md', 'dev.md', '/dev.md'],
    ['docs/start.md', 'dev.md#ports', '/dev.md#ports'],
    ['docs/start.md', '#ports', '#ports'],
    ['docs/start.md', 'https://example.com/a.md', 'https://example.com/a.md'],
    ['docs/start.md', 'decisions', '/decisions/index.md'],
    ['docs/contribute/suites.md', '../../CONTRIBUTING.md', '/contributing.md'],
    ['docs/start.md', '../README.md#a-first-look', '/index.md#a-first-look'],
    ['README.md', 'docs/README.md', '/chapters.md'],
    ['README.md', 'docs/first/tea.yaml', `${repository}/blob/main/docs/first/tea.yaml`],
    ['docs/start.md', '../examples/', `${repository}/tree/main/examples`],
    ['CONTRIBUTING.md', 'changes/README.md', `${repository}/blob/main/changes/README.md`],
  ]
  for (const [file, link, expected] of cases) assert.equal(siteLink(file, link), expected)
})

test('a link to a missing file is an error', () => {
  assert.throws(
    () => siteLink('docs/start.md', 'gone.md'),
    /docs\/start\.md: gone\.md does not exist/,
  )
})

test('anchors are formed as on GitHub', () => {
  assert.equal(anchorOf('4. A `b`: c, d'), '4-a-b-c-d')
})

test('the sidebar has every chapter and every committed reference page', () => {
  const pages = globSync(['docs/*.md', 'docs/{reference,contribute}/*.md'], { cwd: root })
  const missing = pages.filter(
    (file) => file !== 'docs/README.md' && !listed.has(`/${pageOf(file) ?? ''}`),
  )
  assert.deepEqual(missing, [])
})

test('for each kind of reader, the home page links to a chapter that is in the sidebar', () => {
  const readers = readReaders()
  assert.deepEqual(
    readers.map(({ chapters: [first] }) => first?.link),
    ['/test-your-operator.md', '/apis-without-nodes.md', '/operate.md'],
  )
  for (const { chapters } of readers)
    for (const { link } of chapters) assert.ok(listed.has(link), link)
  assert.match(readSummary(), /^Keelson is a .+\.$/)
})

test('the reference of keelson/testing contains only public members, and describes each class', () => {
  const { text } = testingPage()
  assert.match(text, /^### Cluster\.fork\n\n.+/m)
  assert.match(text, /^\| `flags` \| `string\[\]` \| no \| .+ \|$/m)
  assert.doesNotMatch(text, /@internal|#\w+[(:]|\bprivate\b|undefined\.ts/)
  assert.doesNotMatch(text, /^## (?:Cluster|TestClock|Fault|Faults|Snapshot)\n\n#/m)
})
