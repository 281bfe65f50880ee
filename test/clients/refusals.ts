/**
 * Reads rejected requests from a server's audit log. Keelson must not reject a component's request
 * that kube-apiserver allows.
 */
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isRecord } from '../recorded/compat/json.ts'

/** Number of rejections by `user verb resource`. */
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
  // Skip rejections of controllers that have not yet noticed the deletion of a namespace, because
  // their timing differs between runs.
  if (String(status['message']).includes('because it is being terminated')) return undefined
  const user = isRecord(event['user']) ? String(event['user']['username']) : ''
  return `${user} ${String(event['verb'])} ${targetOf(event)}`
}

/** Returns the resource of a request without names, which differ between runs. */
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

/** Returns the rejections that a run on kube-apiserver did not record. */
export async function newRefusals(path: string, refusals: Refusals): Promise<string[]> {
  const known: unknown = JSON.parse(await readFile(path, 'utf8'))
  return [...refusals.keys()].filter((what) => !isRecord(known) || !(what in known))
}
