/** Runs one scenario, from creating its namespace to cleaning up. */
import { randomBytes } from 'node:crypto'
import { AuditTrail } from './audit.ts'
import { type Client, type HttpAnswer, type HttpRequest, parseBody } from './client.ts'
import type { Companions } from './companions.ts'
import { isRecord } from './json.ts'
import { Normaliser } from './normalise.ts'
import { recordStep, type RecordedStep } from './recorded.ts'
import type { Scenario } from './steps.ts'
import { type Session, take } from './take.ts'
import { fill } from './template.ts'

/**
 * User agent of the runner. The field manager in the recordings is derived from the user agent, so
 * it must not change.
 */
const USER_AGENT = 'oracle/1.0'

const json = { accept: 'application/json', 'content-type': 'application/json' }

/**
 * Runs a scenario and returns the responses in the form of a recording. Rejects only if the
 * namespace cannot be created.
 */
export async function runScenario(
  scenario: Scenario,
  client: Client,
  companions: Companions,
): Promise<RecordedStep[]> {
  const { hooks, extension, dir } = companions
  const namespace = `oracle-${randomBytes(5).toString('hex')}`
  const hook = hooks.serve(namespace, scenario.hooks ?? {})
  if (scenario.extension !== undefined) extension.serve(namespace, scenario.extension)
  const { port, caBundle } = extension
  const variables: Session['variables'] = {
    $ns: namespace,
    hook,
    caBundle: hooks.caBundle,
    extension: { port, caBundle },
  }
  const isAudited = scenario.steps.some(({ kind }) => kind === 'audited')
  const session: Session = {
    client,
    companions,
    namespace,
    trail: new AuditTrail(companions, namespace),
    userAgent: isAudited ? `${USER_AGENT} (${namespace})` : USER_AGENT,
    variables,
    watches: new Map(),
  }
  const normaliser = new Normaliser({
    namespace,
    dir,
    hookUrl: hooks.url,
    extension,
    times: scenario.times,
  })
  if (scenario.namespace !== false) await createNamespace(session)
  const recorded: RecordedStep[] = []
  for (const [index, step] of scenario.steps.entries()) {
    const answer = await take(step, session)
    if (answer === undefined || step.kind === 'sleep' || step.kind === 'token') continue
    if (step.id !== undefined && step.kind !== 'watched') {
      variables[step.id] = answer.body
      variables[`${step.id}@headers`] = answer.headers
    }
    recorded.push(recordStep(step, index, answer, normaliser))
  }
  await cleanUp(scenario, session)
  for (const watch of session.watches.values()) watch.stop()
  return recorded
}

async function createNamespace({ client, namespace }: Session): Promise<void> {
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  await client.request({ method: 'POST', path: '/api/v1/namespaces', headers: json, body })
}

async function cleanUp(scenario: Scenario, session: Session): Promise<void> {
  if (scenario.namespace !== false) {
    const path = `/api/v1/namespaces/${session.namespace}`
    // Delete the Services first. If no controller empties the namespace, they would keep their
    // addresses allocated.
    if (usesServices(scenario)) {
      await attempt(session.client, {
        method: 'DELETE',
        path: `${path}/services`,
        headers: { accept: json.accept },
      })
    }
    await attempt(session.client, { method: 'DELETE', path, headers: { accept: json.accept } })
  }
  for (const path of scenario.cleanup ?? [])
    await remove(String(fill(path, session.variables)), session.client)
}

const usesServices = ({ steps }: Scenario): boolean => JSON.stringify(steps).includes('/services')

/**
 * Deletes an object and removes its finalizers. CustomResourceDefinitions keep their finalizers,
 * because they must be deleted after their objects.
 */
async function remove(path: string, client: Client): Promise<void> {
  const answer = await attempt(client, { method: 'DELETE', path, headers: { accept: json.accept } })
  const left = answer && parseBody(answer.raw, answer.headers['content-type'])
  if (!isRecord(left) || left['kind'] === 'CustomResourceDefinition' || !isRecord(left['metadata']))
    return
  const { finalizers } = left['metadata']
  if (!Array.isArray(finalizers) || finalizers.length === 0) return
  await attempt(client, {
    method: 'PATCH',
    path,
    headers: { accept: json.accept, 'content-type': 'application/merge-patch+json' },
    body: '{"metadata":{"finalizers":null}}',
  })
}

/**
 * Sends a request that cleans up after a scenario, and ignores errors. Objects that cannot be
 * deleted cause no problems, because no other scenario uses the namespace.
 */
const attempt = (client: Client, request: HttpRequest): Promise<HttpAnswer | undefined> =>
  client.request(request).catch(() => undefined)
