import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { basesOf } from './kustomize-bases.ts'

const root = mkdtempSync(join(tmpdir(), 'keelson-bases-'))
after(() => rmSync(root, { recursive: true }))

function write(folder: string, text: string): void {
  mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, folder, 'kustomization.yaml'), text)
}

test('the folders that a kustomization uses are found, including those that it uses through other kustomizations', async () => {
  write(
    'dev',
    'resources: [../base, web.yaml, "https://example.com/web"]\ncomponents: [../debug]\n',
  )
  // `dev` and `base` include each other. kustomize reports this as an error; `basesOf` must only
  // end.
  write('base', 'resources: [../common, ../dev]\n')
  write('common', 'resources: [\n')
  write('debug', 'kind: Component\n')
  writeFileSync(join(root, 'dev', 'web.yaml'), '')
  const bases = await basesOf(join(root, 'dev'))
  assert.deepEqual(
    bases,
    ['base', 'debug', 'common'].map((name) => join(root, name)),
  )
  assert.deepEqual(await basesOf(join(root, 'common')), [])
})
