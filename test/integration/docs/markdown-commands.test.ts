/** Tests which commands of a page are run, and how their output is compared. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyChange, undoChange } from '../../support/harness/apply-change.ts'
import { readBlocks, runBlocks } from '../../support/harness/markdown-commands.ts'

const fence = (info: string, ...lines: readonly string[]): string =>
  [`\`\`\`${info}`, ...lines, '```', ''].join('\n')

test('code blocks are parsed into commands, files and expected output, and other blocks are ignored', () => {
  const page = [
    fence('sh needs=go', 'go test'),
    fence('yaml', 'shown: only'),
    fence('yaml file=a/b.yaml', 'kind: Tea'),
    fence('sh', 'cat a/b.yaml'),
    fence('text', 'kind: Tea'),
  ].join('\ntext\n\n')
  assert.deepEqual(readBlocks(page), [
    { kind: 'commands', text: 'go test\n', needs: 'go', expected: '', mustFail: false },
    { kind: 'file', name: 'a/b.yaml', text: 'kind: Tea\n', needs: undefined },
    {
      kind: 'commands',
      text: 'cat a/b.yaml\n',
      needs: undefined,
      expected: 'kind: Tea\n',
      mustFail: false,
    },
  ])
})

test('the commands of a page share a folder and variables, and commands that cannot run are reported', async () => {
  const page = [
    fence('sh needs=moon', 'exit 1'),
    fence('text file=note.txt', 'three  teas'),
    fence('sh', 'NOTE=$(cat note.txt)', 'export KIND="a b"', 'rm note.txt'),
    fence('sh', 'echo "$NOTE, $KIND, $(sh -c \'echo $KIND\')"'),
    fence('text', 'three teas, a b, a …'),
  ].join('\n')
  assert.deepEqual(await run(page), ['moon: too far'])
})

test('a page fails if a command fails or prints different output', async () => {
  await assert.rejects(run(fence('sh', 'echo before', 'false', 'echo after')), /before/)
  await assert.rejects(
    run([fence('sh', 'echo 1.5'), fence('text', '1x5')].join('\n')),
    /printed\n1\.5/,
  )
})

test('a page fails if a block that must fail succeeds', async () => {
  await run([fence('sh fails', 'echo seen', 'false'), fence('text', 'seen')].join('\n'))
  await assert.rejects(run(fence('sh fails', 'true')))
})

test('a diff block is applied if its lines occur in the file exactly once', async () => {
  const page = [
    fence('text file=a', 'one', 'two', '', 'three', 'two', 'four'),
    fence('diff file=a', ' one', '-two', '+2', '', ' three', '@@', ' two', '+3'),
    fence('sh', 'paste -sd, a'),
    fence('text', 'one,2,,three,two,3,four'),
  ]
  await run(page.join('\n'))
  const [file = ''] = page
  await assert.rejects(run([file, fence('diff file=a', ' two', '+3')].join('\n')), /more than once/)
  await assert.rejects(run([file, fence('diff file=a', '-thre')].join('\n')), /not in the file/)
})

test('a diff block that was applied to a file can be reverted', () => {
  const [text, change] = ['a\nb\nc\n', ' a\n-b\n+x\n+y\n']
  assert.equal(applyChange(text, change), 'a\nx\ny\nc\n')
  assert.equal(undoChange(applyChange(text, change), change), text)
})

/** Runs a page and returns the reasons for skipped commands. */
async function run(page: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-page-'))
  const skipped: string[] = []
  try {
    await runBlocks(readBlocks(page), {
      folder,
      env: process.env,
      port: 1,
      lacks: (need) => (need === 'moon' ? 'too far' : undefined),
      onSkipped: (need, why) => skipped.push(`${need}: ${why}`),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return skipped
}
