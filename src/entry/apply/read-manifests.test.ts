import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { readManifests } from './read-manifests.ts'
import { scan } from './scan.ts'

const root = mkdtempSync(join(tmpdir(), 'keelson-manifests-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Writes a folder with the given files, and reads its manifests. */
async function read(name: string, files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name, path)), { recursive: true })
    writeFileSync(join(root, name, path), text)
  }
  const result = await readManifests(await scan(join(root, name)))
  const sources = result.manifests.map(({ source }) => source.slice(join(root, name).length + 1))
  return { ...result, sources }
}

const manifest = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

test('the manifests of a folder include those of its subfolders, in the order of the paths', async () => {
  const { sources, faults, skipped } = await read('order', {
    'b.yaml': manifest('b'),
    'a/z.yml': manifest('az'),
    'a/b/c.json': manifest('abc'),
    '.git/config.yaml': manifest('hidden'),
    '.swp.yaml': manifest('hidden'),
    'node_modules/p/package.json': manifest('p'),
    'notes.txt': 'no manifest',
    'values.yaml': 'replicas: 3\n',
  })
  assert.deepEqual(faults, [])
  assert.deepEqual(sources, ['a/b/c.json:1', 'a/z.yml:1', 'b.yaml:1'])
  assert.deepEqual(skipped, [join(root, 'order', 'values.yaml')])
})

test('the manifests of a single file are read', async () => {
  await read('file', { 'a.yaml': manifest('a'), 'b.yaml': manifest('b') })
  const { manifests } = await readManifests(await scan(join(root, 'file', 'a.yaml')))
  assert.equal(manifests.length, 1)
})

test('links to manifest files are followed, and links to folders are not', async () => {
  await read('links', { 'data/a.yaml': manifest('a') })
  const folder = join(root, 'links')
  symlinkSync(join(folder, 'data', 'a.yaml'), join(folder, 'link.yaml'))
  symlinkSync(folder, join(folder, 'loop'))
  assert.deepEqual((await read('links', {})).sources, ['data/a.yaml:1', 'link.yaml:1'])
})

test('links to files outside of the folder are rejected, except in a kustomization', async () => {
  await read('secrets', { 'a.yaml': manifest('a') })
  await read('leaves', { 'b.yaml': manifest('b') })
  const folder = join(root, 'leaves')
  symlinkSync(join(root, 'secrets', 'a.yaml'), join(folder, 'link.yaml'))
  await assert.rejects(scan(folder), /leaves\/link\.yaml is a link to a file outside of the folder/)
  writeFileSync(join(folder, 'kustomization.yaml'), 'resources: [b.yaml]\n')
  assert.equal((await scan(folder)).isKustomization, true)
})

test('a manifest file that cannot be read is reported, and the others are read', async () => {
  const { sources, faults } = await read('faults', {
    'a.yaml': manifest('a'),
    'empty.yaml': '',
    'huge.yaml': 'a',
    'sub/kustomization.yaml': 'resources: []\n',
  })
  assert.equal(faults.length, 2)
  assert.match(faults[0] ?? '', /empty\.yaml is empty: add a manifest, or remove the file$/)
  assert.match(faults[1] ?? '', /sub\/kustomization\.yaml: only the topmost folder/)
  assert.deepEqual(sources, ['a.yaml:1'])
  truncateSync(join(root, 'faults', 'huge.yaml'), 17 * 1024 * 1024)
  assert.match((await read('faults', {})).faults[1] ?? '', /huge\.yaml is larger than 16 MB/)
})

test('a folder of manifests with too many files is rejected', async () => {
  const folder = join(root, 'many')
  mkdirSync(folder)
  for (let at = 0; at <= 5000; at++) writeFileSync(join(folder, `${at}.yaml`), '')
  await assert.rejects(scan(folder), /more than 5000 files: name a smaller folder/)
})

test('a folder of manifests with too many subfolders is rejected', async () => {
  const folder = join(root, 'wide')
  mkdirSync(folder)
  for (let at = 0; at <= 1000; at++) mkdirSync(join(folder, `${at}`))
  await assert.rejects(scan(folder), /more than 1000 folders: name a smaller folder/)
})

test('a path that does not exist is rejected', async () => {
  await assert.rejects(scan(join(root, 'missing')), /ENOENT/)
})
