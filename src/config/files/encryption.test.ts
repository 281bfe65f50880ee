import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { defaultGates } from '../../api/gates.ts'
import { readEncryptionConfiguration } from './encryption.ts'

const options = { path: 'f', gates: defaultGates, isReloaded: false }
const secret = randomBytes(32).toString('base64')
const provider = { aesgcm: { keys: [{ name: 'a', secret }] } }
const resources = [{ resources: ['secrets'], providers: [provider] }]
const file = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources,
}

test('the names of resources in an EncryptionConfiguration are normalized when the file is read', () => {
  const rules = [['secrets.', 'deployments.apps'], ['*.'], ['*.*']].map((names) => ({
    resources: names,
    providers: [provider],
  }))
  const read = readEncryptionConfiguration(
    Buffer.from(JSON.stringify({ ...file, resources: rules })),
    options,
  )
  assert.ok('value' in read)
  assert.deepEqual(
    read.value.map((rule) => rule.resources),
    [['secrets', 'deployments.apps'], ['*.'], ['*.*']],
  )
})

test('the error message for an invalid EncryptionConfiguration does not reveal keys', () => {
  for (const text of [
    JSON.stringify({ resources }),
    `kind: EncryptionConfiguration\nresources: ${JSON.stringify(resources)}\n`,
  ]) {
    const read = readEncryptionConfiguration(Buffer.from(text), options)
    assert.ok(
      'fault' in read &&
        /Object '\w+' is missing$/.test(read.fault) &&
        !read.fault.includes(secret),
      text,
    )
  }
})

test('a heap snapshot does not contain encryption keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-heap-'))
  const [config, snapshot] = [join(folder, 'config.yaml'), join(folder, 'heap')]
  writeFileSync(config, JSON.stringify(file))
  // Takes the heap snapshot in a new process, so that the heap contains nothing but the result of
  // reading the file.
  const program = `
    import { readFileSync } from 'node:fs'
    import { writeHeapSnapshot } from 'node:v8'
    import { readEncryptionConfiguration } from ${JSON.stringify(join(import.meta.dirname, 'encryption.ts'))}
    const read = readEncryptionConfiguration(readFileSync(${JSON.stringify(config)}), { path: 'f', gates: { isOn: () => false }, isReloaded: false })
    if ('fault' in read) throw new Error('it is refused')
    // V8 retains the last string that was matched against a regular expression. Match another
    // string, so that V8 releases the contents of the file.
    'another text'.match(/a/)
    globalThis.gc()
    writeHeapSnapshot(${JSON.stringify(snapshot)})
    console.log(read.value.length)
  `
  try {
    const said = execFileSync(process.execPath, [
      '--expose-gc',
      '--input-type=module-typescript',
      '-e',
      program,
    ])
    assert.equal(said.toString(), '1\n')
    assert.ok(!readFileSync(snapshot, 'latin1').includes(secret.slice(0, 20)))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
