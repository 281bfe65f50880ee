/**
 * Follows each walkthrough for contributors in a copy of the repository. The test reverts the
 * change that the page describes, runs the commands of the page, and writes its code. Then it
 * compares the result with the repository.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { etcdTool, toolPath } from '../../support/harness/etcd.ts'
import { type Block, readBlocks, runBlocks } from '../../support/harness/markdown-commands.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const folder = join(root, 'docs', 'contribute')
/** Maximum size of the list of files that git prints. The list has 200 KB. */
const FILES_BYTES_MAX = 16 << 20
const run = promisify(execFile)
const walkthroughs = readdirSync(folder).filter((page) => page.startsWith('add-'))

suite('the steps of the walkthroughs for contributors produce the files of the repository', {
  concurrency: walkthroughs.length,
}, () => {
  for (const page of walkthroughs) {
    test(`following docs/contribute/${page} produces the files of the repository`, async (t) => {
      const blocks = readBlocks(readFileSync(join(folder, page), 'utf8'))
      const files = new Set(blocks.flatMap((one) => (one.kind === 'commands' ? [] : one.name)))
      assert.ok(files.size > 0)
      const copy = await realpath(await mkdtemp(join(tmpdir(), 'keelson-walkthrough-')))
      try {
        await copyRepository(copy)
        await follow(blocks, copy, t)
        for (const file of files)
          assert.equal(
            readFileSync(join(copy, file), 'utf8'),
            readFileSync(join(root, file), 'utf8'),
            file,
          )
      } finally {
        await rm(copy, { recursive: true, force: true })
      }
    })
  }
})

test("the text before a code block names its file, because readers do not see the block's info string", () => {
  for (const page of walkthroughs) {
    const parts = readFileSync(join(folder, page), 'utf8').split(/^```(\S[^\n]*)\n.*?^```$/gms)
    const unnamed = parts.flatMap((mark, at) => {
      const [, file] = at % 2 === 1 ? (/ file=(\S+)/.exec(mark) ?? []) : []
      return file === undefined || parts[at - 1]?.includes(`\`${file}\``) ? [] : [file]
    })
    assert.deepEqual(unnamed, [], page)
  }
})

test('docs/contribute contains three walkthroughs', () => {
  assert.deepEqual(walkthroughs.toSorted(), [
    'add-a-field.md',
    'add-a-kind.md',
    'add-an-admission-plugin.md',
  ])
})

function follow(blocks: readonly Block[], copy: string, t: TestContext): Promise<void> {
  // Remove the variable that selects the program that CI has built. That program does not contain
  // the code of the walkthrough.
  const { NODE_TEST_CONTEXT: _, KEELSON_PROGRAM: __, ...env } = process.env
  const path = [join(root, 'node_modules', '.bin'), dirname(process.execPath), env['PATH']]
  return runBlocks(blocks, {
    folder: copy,
    // Use a separate compile cache, because the code of a copy is not useful for other runs. It
    // begins with the compiled code of this checkout, which `copyRepository` has copied.
    env: { ...env, PATH: path.join(':'), NODE_COMPILE_CACHE: join(copy, '.cache', 'compiled') },
    port: 0,
    lacks,
    onSkipped: (need, why) => t.diagnostic(`skipped, needs ${need}: ${why}`),
  })
}

function lacks(need: string): string | undefined {
  if (need === 'git') return 'the copy has no history'
  // Skip commands that need Go. They generate code, which the next block of the page also contains.
  if (need === 'go') return 'the step `catalogue` of .ci/run compares the files with the script'
  assert.equal(need, 'etcd')
  try {
    toolPath(etcdTool())
  } catch (error) {
    return String(error)
  }
  return undefined
}

/**
 * Copies the files that git tracks or would add. The copy uses the packages and tools of this
 * checkout.
 */
async function copyRepository(copy: string): Promise<void> {
  const listing = ['ls-files', '--cached', '--others', '--exclude-standard']
  const { stdout } = await run('git', listing, { cwd: root, maxBuffer: FILES_BYTES_MAX })
  const files = stdout
    .split('\n')
    .filter((file) => /^(?:bench|bin|docs|scripts|src|test)\/|\.json$/.test(file))
    .filter((file) => existsSync(join(root, file)))
  await run('cp', ['--parents', `--target-directory=${copy}`, ...files], { cwd: root })
  await mkdir(join(copy, '.cache'))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const tools = join(root, '.cache', 'tools')
  if (existsSync(tools)) await symlink(tools, join(copy, '.cache', 'tools'))
  const compiled = process.env['NODE_COMPILE_CACHE']
  if (compiled !== undefined && process.env['NODE_COMPILE_CACHE_PORTABLE'] === '1')
    // Other tests write to the cache at the same time, so some files may be missing in the copy.
    await run('cp', ['--recursive', '--link', compiled, join(copy, '.cache', 'compiled')]).catch(
      () => undefined,
    )
}
