/**
 * Records the data of tests again (see README.md): `npm run golden -- --reference`.
 *
 *   --reference   records responses and stored values of kube-apiserver; needs
 *                 `test/support/tools/install kube-apiserver etcd`.
 *   --filled      records the objects with every field set, encoded by Kubernetes' own codecs;
 *                 needs Go, and takes minutes the first time.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import type { Json } from '../compat/json.ts'
import { pack } from './pack.ts'
import { dataFolder } from './read.ts'
import { record } from './record.ts'

/** Maximum size of the output of the Go program. All objects in JSON take a few MB. */
const OUTPUT_BYTES_MAX = 64 << 20

const { values: options } = parseArgs({
  options: { reference: { type: 'boolean' }, filled: { type: 'boolean' } },
})
if (options.reference !== true && options.filled !== true) {
  console.error(
    'golden: choose what to record: --reference (starts kube-apiserver), --filled (runs a Go program)',
  )
  process.exit(2)
}
mkdirSync(dataFolder, { recursive: true })
if (options.reference === true) await recordReference()
if (options.filled === true) recordFilled()

async function recordReference(): Promise<void> {
  const usual = await record('default')
  const all = await record('all')
  const stored = [...usual.stored, ...all.stored]
  write(
    'stored.json',
    pack(Object.fromEntries(stored.map((row): [string, Json] => [row.get, { ...row }]))),
  )
  const keys = Object.entries({ ...all.keys, ...usual.keys }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  write(
    'keys.json',
    `{\n${keys.map(([kind, own]) => `${JSON.stringify(kind)}:${JSON.stringify(own)}`).join(',\n')}\n}\n`,
  )
  const documents = new Map<string, Json>()
  for (const [path, document] of usual.documents) documents.set(`default ${path}`, document)
  for (const [path, document] of all.documents) {
    const isSame = isDeepStrictEqual(document, usual.documents.get(path))
    if (!isSame && path !== '/openapi/v2') documents.set(`all ${path}`, document)
  }
  write('documents.json', pack(Object.fromEntries(documents)))
  console.log(`${stored.length} objects, ${keys.length} kinds of keys, ${documents.size} documents`)
}

function recordFilled(): void {
  const folder = join(import.meta.dirname, '..', '..', 'support', 'tools', 'kubernetes')
  const text = execFileSync('go', ['run', './filled'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const rows = text
    .trim()
    .split('\n')
    .map((line): { id: string; json: Json; protobuf: string } => JSON.parse(line))
  write(
    'filled.json',
    pack(Object.fromEntries(rows.map(({ id, ...row }): [string, Json] => [id, row]))),
  )
  console.log(`${rows.length} filled objects`)
}

function write(file: string, text: string): void {
  writeFileSync(join(dataFolder, file), text)
  console.log(`${file}: ${Math.ceil(text.length / 1024)} KiB`)
}
