/** Tests the changelog fragments in `changes/`, which a release moves to CHANGELOG.md. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

const program = join(import.meta.dirname, '..', '..', '..', 'scripts', 'changelog.ts')

const older = `# Changelog

Changes that users notice.

## 0.1.0 (2026-11-18)

### Added

Tools:

- \`keelson dev\`: a control plane with a store, certificates and a kubeconfig
  in one command.
`

/** Creates a repository that contains only a changelog and fragments. */
function repository(t: TestContext, fragments: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'keelson-changelog-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'changes'))
  writeFileSync(join(root, 'CHANGELOG.md'), older)
  writeFileSync(join(root, 'changes', 'README.md'), '# The format\n')
  for (const [name, text] of Object.entries(fragments))
    writeFileSync(join(root, 'changes', name), text)
  return root
}

function run(root: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, '--root', root, ...args],
    { encoding: 'utf8' },
  )
  return { status, stdout, faults: stderr.split('\n').filter((line) => line !== '') }
}

const storage = 'Added, Storage: A new store.\n'
const long = `Fixed, Storage: ${'A long entry is broken into lines. '.repeat(2)}\n`.replace(
  'A long',
  `A${' very'.repeat(15)} long`,
)

test('a preview groups the fragments by section and component', (t) => {
  const root = repository(t, {
    'a.md': storage,
    'b.md': 'Added, API: A field (docs/gates.md).\n',
    'c.md': 'Security, Server: A limit,\nwhich `a.b: c` sets. It is 5.\n',
    'd.md': long,
  })
  const { status, stdout, faults } = run(root, '--preview')
  assert.deepEqual([status, faults], [0, []])
  assert.equal(
    stdout,
    `## Unreleased

### Added

API:

- A field (docs/gates.md).

Storage:

- A new store.

### Fixed

Storage:

- A${' very'.repeat(15)} long entry is broken
  into lines. A long entry is broken into lines.

### Security

Server:

- A limit, which \`a.b: c\` sets. It is 5.
`,
  )
  assert.equal(readdirSync(join(root, 'changes')).length, 5)
})

test('a release moves the fragments to a section above the earlier releases', (t) => {
  const root = repository(t, { 'a.md': storage })
  const { status, stdout } = run(root, '--release', '0.2.0', '--date', '2027-01-31')
  assert.deepEqual([status, stdout], [0, 'changelog: 1 entries moved to 0.2.0 (2027-01-31)\n'])
  assert.deepEqual(readdirSync(join(root, 'changes')), ['README.md'])
  assert.equal(
    readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    older.replace(
      '## 0.1.0',
      '## 0.2.0 (2027-01-31)\n\n### Added\n\nStorage:\n\n- A new store.\n\n## 0.1.0',
    ),
  )
})

test('the error for an invalid fragment says how to correct it', (t) => {
  const root = repository(t, {
    'a.md': storage,
    'again.md': storage,
    'component.md': 'Added, Kitchen: Tea.\n',
    'form.md': 'A new store.\n',
    'link.md': 'Added, Tools: A [page](../docs/dev.md).\n',
    'many.md': 'Added, Tools: One. Two. Three.\n',
    'period.md': 'Added, Tools: A command\n',
    'released.md':
      'Added, Tools: `keelson dev`: a control plane with a store, certificates and a\n' +
      'kubeconfig in one command.\n',
    'section.md': 'Removed, Tools: A command.\n',
    'text.txt': storage,
  })
  const { status, stdout, faults } = run(root, '--check')
  assert.equal(status, 1)
  assert.equal(stdout, 'changelog: 6 fragments, 9 faults\n')
  assert.deepEqual(
    faults.map((fault) => fault.replace(/: use .*/, '')),
    [
      'changes/again.md: repeats an entry of changes/a.md',
      'changes/component.md: the component "Kitchen" is unknown',
      'changes/form.md: must say `SECTION, COMPONENT: TEXT`',
      'changes/link.md: must not have links, because it moves to another folder: name the page',
      'changes/many.md: has 3 sentences; at most 2 are allowed',
      'changes/period.md: must end with a period',
      'changes/released.md: repeats an entry of CHANGELOG.md',
      'changes/section.md: the section "Removed" is unknown',
      'changes/text.txt: is not a Markdown file',
    ],
  )
})

test('a release requires a new version, a date and valid fragments', (t) => {
  const none = repository(t, {})
  assert.deepEqual(run(none, '--release', '0.1.0', '--date', 'today').faults, [
    '--date must be a date such as 2027-01-31',
    'CHANGELOG.md already has 0.1.0',
    'there are no fragments to release',
  ])
  assert.deepEqual(run(none, '--release', 'next').faults.slice(0, 1), [
    '--release must be a version such as 0.2.0',
  ])
  const bad = repository(t, { 'a.md': 'Added, Storage: A store' })
  assert.equal(run(bad, '--release', '0.2.0', '--date', '2027-01-31').status, 1)
  assert.equal(readFileSync(join(bad, 'CHANGELOG.md'), 'utf8'), older)
  assert.equal(run(bad).status, 1)
})
