/**
 * Reads a server's audit log and finds the requests that the server rejected. If kube-apiserver
 * allows a request of a cluster component, Keelson must not reject it.
 */
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isRecord } from '../recorded/compat/json.ts'

/** Number of rejected requests. The key consists of the user, the verb and the resource. */
export type Refusals = ReadonlyMap<string, number>

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
}

/** Returns the flags with which a server writes its audit log into its folder. */
export async function auditFlags(dir: string): Promise<readonly string[]> {
  await writeFile(join(dir, 'audit-policy.json'), JSON.stringify(policy))
  return [
    `--audit-policy-file=${join(dir, 'audit-policy.json')}`,
    `--audit-log-path=${join(dir, 'audit.log')}`,
  ]
}

export type AuditSummary = { readonly requests: number; readonly refusals: Refusals }

export async function readAudit(dir: string): Promise<AuditSummary> {
  const refusals = new Map<string, number>()
  let requests = 0
  for await (const line of createInterface({ input: createReadStream(join(dir, 'audit.log')) })) {
    requests++
    if (!line.includes('"code":403')) continue
    const key = refusalOf(JSON.parse(line))
    if (key !== undefined) refusals.set(key, (refusals.get(key) ?? 0) + 1)
  }
  return { requests, refusals }
}

function refusalOf(event: unknown): string | undefined {
  const status = isRecord(event) ? event['responseStatus'] : undefined
  if (!isRecord(event) || !isRecord(status) || status['code'] !== 403) return undefined
  // Skip requests of controllers for a namespace that is being deleted. Their number differs
  // between runs, because controllers notice the deletion with a delay.
  if (String(status['message']).includes('because it is being terminated')) return undefined
  const user = isRecord(event['user']) ? String(event['user']['username']) : ''
  return `${user} ${String(event['verb'])} ${targetOf(event)}`
}

/**
 * Returns the resource of a request, but not the name of the object, which differs between runs.
 */
function targetOf({ objectRef, requestURI }: Readonly<Record<string, unknown>>): string {
  if (!isRecord(objectRef)) return String(requestURI).split('?')[0] ?? ''
  const { resource, apiGroup = '', subresource = '' } = objectRef
  return `${String(resource)}.${String(apiGroup)}/${String(subresource)}`
}

export function report({ requests, refusals }: AuditSummary): void {
  const count = [...refusals.values()].reduce((sum, one) => sum + one, 0)
  console.log(`${requests} requests, ${count} refused (403), of ${refusals.size} kinds`)
  for (const [what, times] of refusals) console.log(`  ${times} times: ${what}`)
}

export const writeRefusals = (path: string, refusals: Refusals): Promise<void> =>
  writeFile(path, JSON.stringify(Object.fromEntries(refusals)))

/**
 * Returns the rejected requests that are not in the file `path`, which a run on kube-apiserver has
 * written.
 */
export async function newRefusals(path: string, refusals: Refusals): Promise<string[]> {
  const known: unknown = JSON.parse(await readFile(path, 'utf8'))
  return [...refusals.keys()].filter((what) => !isRecord(known) || !(what in known))
}
