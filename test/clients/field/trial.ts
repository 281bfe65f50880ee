/** Runs all operations on the CustomResourceDefinitions on one server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, type HttpAnswer } from '../../recorded/compat/client.ts'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { type Kubectl, kubectlFor } from '../../support/harness/kubectl.ts'
import { mutated } from '../../chaos/properties/mutate.ts'
import { Random } from '../../chaos/simulation/random.ts'
import type { Fields } from '../every-kind.ts'
import { type FieldDefinition, fields, type FieldVersion } from './fetch.ts'
import { collectionPath, NAMESPACE, nameOf, sampleObject } from './objects.ts'
import { type Records, undescribed, type Verdict, verdictOf } from './record.ts'

/**
 * Maximum time until a change takes effect. On an idle machine, this takes a tenth of a second. On
 * a busy one that tests all definitions, it takes many seconds.
 */
const CHANGE_MS_MAX = 60_000
const POLL_MS = 50
/**
 * Number of definitions that are tested concurrently, large enough to keep the client and the
 * server busy.
 */
const PARALLEL = 4

export type Trial = { readonly records: Records; readonly faults: readonly string[] }

export type TrialOptions = {
  readonly explains: boolean
  /** Number of invalid objects per version that are sent as dry runs. */
  readonly spoilt: number
  readonly progress: (text: string) => void
}

export async function runTrial(
  server: ApiServerProcess,
  definitions: readonly FieldDefinition[],
  { explains, spoilt, progress }: TrialOptions,
): Promise<Trial> {
  using client = createClient({ server: server.url, token: server.token })
  await using kubectl = await kubectlFor(server)
  const run = new Run(client, kubectl)
  await run.ask('namespace', {
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { metadata: { name: NAMESPACE } },
  })
  await inParallel(definitions, (one) => run.define(one), { what: 'created', progress })
  const served = definitions.filter(({ name }) => run.records.get(`${name} define`)?.status === 201)
  await inParallel(served, (one) => run.use(one), { what: 'used', progress })
  if (spoilt > 0)
    await inParallel(served, (one) => run.spoil(one, spoilt), { what: 'spoilt', progress })
  if (explains) await inParallel(served, (one) => run.explain(one), { what: 'explained', progress })
  const places = new Set(
    served.flatMap(({ group, versions }) => versions.map(({ name }) => `${group}/${name}`)),
  )
  await inParallel([...places], (one) => run.readDocument(one), {
    what: 'documents read',
    progress,
  })
  await inParallel(served, (one) => run.delete(one), { what: 'deleted', progress })
  return run
}

type Ask = {
  readonly method?: string
  readonly path: string
  /** Body of the request. A string is sent unchanged, any other value as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

class Run implements Trial {
  readonly records: Records = new Map()
  readonly faults: string[] = []
  readonly #client: Client
  readonly #kubectl: Kubectl

  constructor(client: Client, kubectl: Kubectl) {
    this.#client = client
    this.#kubectl = kubectl
  }

  /** Sends a request and records the response under the given id. */
  async ask(id: string, asked: Ask): Promise<HttpAnswer> {
    const answer = await this.#request(asked)
    this.records.set(id, verdictOf(answer))
    return answer
  }

  /** Like `ask`, but fails if the server rejects the request. */
  async must(id: string, asked: Ask): Promise<HttpAnswer> {
    const answer = await this.ask(id, asked)
    const { status, causes = [] } = this.records.get(id) ?? {}
    if (status === undefined || status >= 300)
      this.faults.push(`${id}: ${status} ${causes.join('; ')}`)
    return answer
  }

  async define({ name, text, group, plural, versions }: FieldDefinition): Promise<void> {
    const headers = { 'content-type': 'application/yaml' }
    const { status } = await this.must(`${name} define`, {
      method: 'POST',
      path: definitionsPath,
      body: text,
      headers,
    })
    if (status !== 201) return
    for (const version of versions) {
      const path = `/apis/${group}/${version.name}/${plural}`
      if (!(await this.#comesTo(path, ({ status: found }) => found === 200)))
        this.faults.push(`${name}: ${path} is not served`)
    }
    if (!(await this.#comesTo(`${definitionsPath}/${name}`, isEstablished)))
      this.faults.push(`${name}: not established`)
  }

  async use(definition: FieldDefinition): Promise<void> {
    // Record the definition now, because its status is complete.
    await this.must(`${definition.name} defined`, { path: `${definitionsPath}/${definition.name}` })
    for (const version of usable(definition)) await this.#useVersion(definition, version)
  }

  /** Sends invalid creates and patches. Every server gets the same requests. */
  async spoil(definition: FieldDefinition, count: number): Promise<void> {
    for (const version of usable(definition)) {
      const id = `${definition.name}@${version.name}`
      const path = collectionPath(definition, version)
      const [minimal, full] = (['minimal', 'full'] as const).map((form) =>
        sampleObject(definition, version, { form, purpose: 'minimal' }),
      )
      const random = new Random(0).fork(id)
      for (let at = 0; at < count; at++) {
        const validation = random.pick(['Ignore', 'Warn', 'Strict'])
        const query = `?dryRun=All&fieldValidation=${validation}`
        const body = mutated(random.chance(0.3) ? minimal : full, random.between(1, 4), random)
        await this.ask(`${id} spoilt ${at}`, { method: 'POST', path: `${path}${query}`, body })
        await this.ask(`${id} spoilt change ${at}`, {
          method: 'PATCH',
          path: `${path}/${nameOf(minimal ?? {})}${query}`,
          body: mutated(random.chance(0.5) ? minimal : full, random.between(1, 4), random),
          headers: { 'content-type': 'application/merge-patch+json' },
        })
      }
    }
  }

  async #useVersion(definition: FieldDefinition, version: FieldVersion): Promise<void> {
    const id = `${definition.name}@${version.name}`
    const path = collectionPath(definition, version)
    const minimal = sampleObject(definition, version, { form: 'minimal', purpose: 'minimal' })
    await this.must(`${id} create`, { method: 'POST', path, body: minimal })
    await this.must(`${id} get`, { path: `${path}/${nameOf(minimal)}` })
    // Record the response, even if it is an error. Samples with all fields often violate validation
    // rules, and the error messages must be equal on both servers.
    const full = sampleObject(definition, version, { form: 'full', purpose: 'full' })
    await this.ask(`${id} create full`, { method: 'POST', path, body: full })
    await this.#applyTwice(
      id,
      path,
      sampleObject(definition, version, { form: 'minimal', purpose: 'applied' }),
    )
    const applied = sampleObject(definition, version, { form: 'full', purpose: 'applied-full' })
    await this.ask(`${id} apply full`, applying(path, applied))
    if (version.hasStatus) {
      const headers = { 'content-type': 'application/merge-patch+json' }
      const body = { status: full['status'] }
      await this.ask(`${id} status`, {
        method: 'PATCH',
        path: `${path}/${nameOf(minimal)}/status`,
        body,
        headers,
      })
    }
    if (version.hasScale)
      await this.ask(`${id} scale`, { path: `${path}/${nameOf(minimal)}/scale` })
    await this.#list(id, path)
  }

  async #applyTwice(id: string, path: string, object: Fields): Promise<void> {
    const first = await this.must(`${id} apply`, applying(path, object))
    const second = await this.must(`${id} apply again`, applying(path, object))
    if (revisionOf(first) !== revisionOf(second))
      this.faults.push(`${id}: the second apply changes the object`)
  }

  async #list(id: string, path: string): Promise<void> {
    const { raw } = await this.must(`${id} list`, { path })
    const items = parsed(raw)['items']
    if (!Array.isArray(items) || items.length === 0) this.faults.push(`${id}: the list is empty`)
    await this.must(`${id} table`, {
      path,
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    })
    this.#withoutWords(`${id} table`)
  }

  async explain({ name, group, plural, versions }: FieldDefinition): Promise<void> {
    for (const version of versions) {
      const known = Object.keys(fields(version.schema['properties'])).filter(
        (field) => !ofAllKinds.has(field),
      )
      for (const field of ['', ...known.map((one) => `.${one}`)]) {
        const args = ['explain', `${plural}${field}`, `--api-version=${group}/${version.name}`]
        const { code, out, err } = await this.#kubectl.run(...args)
        const id = `${name}@${version.name} explain ${field}`
        const body = field === '' ? namesAndTypes(out) : out
        this.records.set(id, { status: code, causes: [err], warnings: [], body })
        if (code !== 0 || !out.includes('KIND:')) this.faults.push(`${id}: ${err}${out}`)
      }
    }
  }

  async readDocument(place: string): Promise<void> {
    await this.must(`openapi ${place}`, { path: `/openapi/v3/apis/${place}` })
    this.#withoutWords(`openapi ${place}`)
  }

  #withoutWords(id: string): void {
    const verdict = this.records.get(id)
    if (verdict !== undefined)
      this.records.set(id, { ...verdict, body: undescribed(verdict.body) } satisfies Verdict)
  }

  async delete({ name }: FieldDefinition): Promise<void> {
    const path = `${definitionsPath}/${name}`
    await this.#request({ method: 'DELETE', path })
    if (!(await this.#comesTo(path, ({ status }) => status === 404)))
      this.faults.push(`${name} is not removed`)
  }

  async #comesTo(path: string, isThere: (answer: HttpAnswer) => boolean): Promise<boolean> {
    const until = performance.now() + CHANGE_MS_MAX
    while (!isThere(await this.#request({ path }))) {
      if (performance.now() > until) return false
      await sleep(POLL_MS)
    }
    return true
  }

  #request({ method = 'GET', path, body, headers }: Ask): Promise<HttpAnswer> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    return this.#client.request({ method, path, headers: { ...type, ...headers }, body: sent })
  }
}

/**
 * Returns the versions whose objects can be used. The conversion webhook does not run, so these
 * versions need no conversion.
 */
const usable = ({ versions, hasWebhook }: FieldDefinition): readonly FieldVersion[] =>
  versions.filter(({ isStorage }) => isStorage || !hasWebhook)

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const isEstablished = ({ raw }: HttpAnswer): boolean => {
  const { conditions } = fields(parsed(raw)['status'])
  return (
    Array.isArray(conditions) &&
    conditions.some(({ type, status }) => type === 'Established' && status === 'True')
  )
}

const applying = (path: string, object: Fields): Ask => ({
  method: 'PATCH',
  path: `${path}/${nameOf(object)}?fieldManager=field`,
  body: object,
  headers: { 'content-type': 'application/apply-patch+yaml' },
})

const parsed = (raw: Buffer): Fields => {
  const value: unknown = JSON.parse(raw.toString('utf8'))
  return fields(value)
}

const revisionOf = ({ raw }: HttpAnswer): unknown =>
  fields(parsed(raw)['metadata'])['resourceVersion']

/**
 * Fields whose descriptions in the output of `kubectl explain` come from the server, and not from
 * the definition.
 */
const ofAllKinds: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

const namesAndTypes = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^\S|^ {2}\S+\t/.test(line))
    .join('\n')

async function inParallel<T>(
  all: readonly T[],
  act: (one: T) => Promise<void>,
  { what, progress }: { readonly what: string; readonly progress: (text: string) => void },
): Promise<void> {
  const waiting = [...all]
  let done = 0
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await act(next)
      progress(`${++done} of ${all.length} ${what}`)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  console.log(`  ${all.length} ${what} in ${((performance.now() - began) / 1000).toFixed(1)} s`)
}
