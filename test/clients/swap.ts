/**
 * Runs Keelson and kube-apiserver alternately on one etcd. Each server must list the objects of the
 * other one unchanged, in protobuf and in JSON. Prints the differences and exits with 1 if there
 * are any.
 *
 *   node test/clients/swap.ts [--gates]         enable all versions and feature gates of fields
 *   node test/clients/swap.ts --encryption=all  encrypt all values, with each provider in turn, or
 *                                               with one, such as aesgcm
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ApiServerProcess } from '../support/harness/api-server.ts'
import { isRecord } from '../recorded/compat/json.ts'
import { loadSetUps, setUpOf } from '../recorded/compat/set-ups.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { KmsPluginServer } from '../support/harness/kms-plugin.ts'
import { startReference } from '../support/harness/reference.ts'
import { SoakClient } from '../chaos/soak/client.ts'
import {
  createSet,
  customServed,
  type Fields,
  listAll,
  type ObjectsByKey,
  type ObjectSet,
} from './every-kind.ts'

const forms = ['application/vnd.kubernetes.protobuf', 'application/json']
const first: ObjectSet = { name: 'swap-first', number: 11 }
const second: ObjectSet = { name: 'swap-second', number: 12 }
/**
 * Maximum length of a value in a report, so that the report stays readable when all values differ.
 */
const TEXT_MAX = 300

const setUps = await loadSetUps()
const hasGates = process.argv.includes('--gates')
const gates = hasGates
  ? ['gates-on', 'all-versions'].flatMap((name) => setUpOf(setUps, name).flags)
  : []

const providers = ['aescbc', 'aesgcm', 'secretbox', 'kms-v1', 'kms-v2'] as const
const encryption = process.argv
  .find((word) => word.startsWith('--encryption='))
  ?.slice('--encryption='.length)
const folder = mkdtempSync(join(tmpdir(), 'keelson-swap-'))

async function main(): Promise<void> {
  let faults = 0
  const show = (reported: readonly string[]): void => {
    for (const fault of reported) console.log(`  ${fault}`)
    faults += reported.length
  }
  for (const provider of providers.filter((name) => encryption === name || encryption === 'all')) {
    console.log(`encrypted by ${provider}`)
    show(await swapEncrypted(provider))
  }
  for (const form of encryption === undefined ? forms : []) {
    console.log(`stored as ${form}`)
    show(await swap(form, gates))
  }
  rmSync(folder, { recursive: true })
  if (faults > 0) process.exitCode = 1
}

/**
 * Swaps the servers while values are encrypted. Both servers are configured to reject unencrypted
 * values, so that an unencrypted value makes the test fail.
 */
async function swapEncrypted(provider: (typeof providers)[number]): Promise<readonly string[]> {
  await using plugin = new KmsPluginServer(join(folder, 'kms.sock'))
  await plugin.start()
  const [kind, apiVersion] = provider.split('-')
  const keys = [{ name: 'swap', secret: Buffer.alloc(32, 'swap').toString('base64') }]
  const one =
    kind === 'kms'
      ? { kms: { apiVersion, name: 'swap', endpoint: plugin.endpoint } }
      : { [provider]: { keys } }
  const path = join(folder, `${provider}.json`)
  const resources = [{ resources: ['*.*'], providers: [one] }]
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources,
    }),
  )
  const gate = provider === 'kms-v1' ? ['--feature-gates=KMSv1=true'] : []
  return await swap('application/vnd.kubernetes.protobuf', [
    `--encryption-provider-config=${path}`,
    ...gate,
  ])
}

async function swap(form: string, flags: readonly string[]): Promise<readonly string[]> {
  await using etcd = await startEtcd()
  const keelson = (): Promise<ApiServerProcess> =>
    startKeelson({ etcdUrl: etcd.clientUrl, args: [`--storage-media-type=${form}`, ...flags] })
  const reference = (): Promise<ApiServerProcess> =>
    startReference({ etcdUrl: etcd.clientUrl, args: flags })
  const written = await during(keelson, (client) => write(client, first))
  const taken = await during(reference, async (client) => {
    await customServed(client, first)
    const seen = await listAll(client)
    return { seen, ...(await write(client, second)) }
  })
  const back = await during(keelson, async (client) => {
    await customServed(client, second)
    return await listAll(client)
  })
  return [
    ...written.refused.map((text) => `Keelson rejected ${text}`),
    ...taken.refused.map((text) => `the reference rejected ${text}`),
    ...compare('written by Keelson, read by the reference', written.listed, taken.seen),
    ...compare('written by the reference, read by Keelson', taken.listed, back),
  ]
}

async function during<T>(
  start: () => Promise<ApiServerProcess>,
  act: (client: SoakClient) => Promise<T>,
): Promise<T> {
  await using server = await start()
  using client = new SoakClient(server.url)
  return await act(client)
}

async function write(
  client: SoakClient,
  set: ObjectSet,
): Promise<{ refused: readonly string[]; listed: ObjectsByKey }> {
  const refused = await createSet(client, set, hasGates)
  return { refused, listed: await listAll(client) }
}

function compare(what: string, before: ObjectsByKey, after: ObjectsByKey): readonly string[] {
  const faults: string[] = []
  let same = 0
  for (const [place, object] of before) {
    if (isOwnedByServer(place)) continue
    const [one, other] = [comparable(place, object), comparable(place, after.get(place))]
    if (isDeepStrictEqual(one, other)) same++
    else
      faults.push(
        `${what}: ${place} ${other === undefined ? 'is gone' : difference(one, other, '')}`,
      )
  }
  console.log(`  ${what}: ${same} objects the same`)
  return faults
}

/**
 * Whether the servers themselves change this object all the time, so that it cannot be compared.
 * Each server renews its own Lease. kube-apiserver also elects leaders and removes expired
 * candidates.
 */
const isOwnedByServer = (place: string): boolean =>
  / kube-system\/(apiserver-|leader-election-controller$)|\/leasecandidates /.test(place)

/**
 * Returns the part of an object that is compared. The status of some resources is left out, because
 * kube-apiserver itself updates it.
 */
function comparable(place: string, object: Fields | undefined): unknown {
  if (object === undefined || !/\/(customresourcedefinitions|apiservices|flowschemas) /.test(place))
    return object
  const { status: _status, metadata, ...rest } = object
  const { uid, name, labels, annotations, creationTimestamp } = isRecord(metadata) ? metadata : {}
  return { ...rest, metadata: { uid, name, labels, annotations, creationTimestamp } }
}

/** Describes the first difference between two values. */
function difference(one: unknown, other: unknown, path: string): string {
  if (typeof one === 'object' && typeof other === 'object' && one !== null && other !== null) {
    const fields = new Map<string, unknown>(Object.entries(one))
    const others = new Map<string, unknown>(Object.entries(other))
    for (const key of new Set([...fields.keys(), ...others.keys()])) {
      if (!isDeepStrictEqual(fields.get(key), others.get(key)))
        return difference(fields.get(key), others.get(key), `${path}.${key}`)
    }
  }
  return `${path}: ${JSON.stringify(one)?.slice(0, TEXT_MAX)} became ${JSON.stringify(other)?.slice(0, TEXT_MAX)}`
}

await main()
