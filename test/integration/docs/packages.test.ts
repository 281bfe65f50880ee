/** Tests the software bill of materials, which lists third-party packages. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPackages } from '../../../scripts/packages/lockfile.ts'

const root = join(import.meta.dirname, '..', '..', '..')

type Bom = {
  readonly bomFormat: string
  readonly specVersion: string
  readonly serialNumber: string
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly name: string
    readonly scope: string
    readonly hashes?: readonly { readonly content: string }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const read = (): string =>
  execFileSync(process.execPath, ['scripts/sbom.ts'], { cwd: root, encoding: 'utf8' })

test('the software bill of materials lists every package once, marks bundled packages, and is reproducible', () => {
  const text = read()
  assert.equal(read(), text)
  const bom: Bom = JSON.parse(text)
  assert.deepEqual([bom.bomFormat, bom.specVersion], ['CycloneDX', '1.6'])
  assert.match(
    bom.serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  const refs = bom.components.map((one) => one['bom-ref'])
  assert.equal(new Set(refs).size, refs.length)
  assert.equal(
    refs.length,
    new Set(readPackages().map(({ name, version }) => `${name} ${version}`)).size,
  )
  const required = bom.components
    .filter(({ scope }) => scope === 'required')
    .map(({ name }) => name)
  // The program contains these packages, because its sources import them directly or indirectly.
  for (const name of ['jose', 'js-yaml', 're2js', 'sorted-btree']) {
    assert.ok(required.includes(name), name)
  }
  for (const name of ['cborg', 'fast-check', 'typescript', '@kubernetes/client-node'])
    assert.ok(!required.includes(name), name)
  for (const { name, hashes } of bom.components) {
    for (const { content } of hashes ?? []) assert.match(content, /^[0-9a-f]{128}$/, name)
  }
  const known = new Set([...refs, bom.dependencies[0]?.ref])
  for (const { ref, dependsOn } of bom.dependencies) {
    for (const one of [ref, ...dependsOn]) assert.ok(known.has(one), one)
  }
})
