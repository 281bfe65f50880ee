/**
 * A kind of the custom resource soak: its definition, its writers and watchers, and the state that
 * the server reported to them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../src/api/object.ts'
import type { Random } from '../simulation/random.ts'
import type { SoakClient } from './client.ts'

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const GROUP = 'soak.example.com'
const RETRY_MS = 50
/** Maximum duration of a request, regardless of what happens to the webhook or the definition. */
const HANG_MS = 35_000

export const versions = ['v1', 'v2'] as const
export type Version = (typeof versions)[number]

export const pathOf = (plural: string, version: Version): string =>
  `/apis/${GROUP}/${version}/${plural}`
export const definitionPath = (plural: string): string => `${definitions}/${plural}.${GROUP}`

export function definitionOf(
  plural: string,
  clientConfig: Fields | undefined,
  generation = 0,
): Fields {
  const properties = { text: { type: 'string' }, value: { type: 'string' } }
  const schema = (version: Version): Fields => ({
    openAPIV3Schema: {
      type: 'object',
      description: `${version}, changed ${generation} times`,
      properties: { spec: { type: 'object', properties } },
    },
  })
  const webhook = { conversionReviewVersions: ['v1'], clientConfig }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Cluster',
      names: { plural, kind: `K${plural}`, listKind: `K${plural}List` },
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: schema(name),
      })),
      ...(clientConfig === undefined ? {} : { conversion: { strategy: 'Webhook', webhook } }),
    },
  }
}

export type SeenObject = { readonly value: string; readonly resourceVersion: string }

export function readSeen(object: unknown): SeenObject & { readonly name: string } {
  const { metadata, spec } = fieldsOf(JSON.parse(JSON.stringify(object)))
  const { name, resourceVersion } = fieldsOf(metadata)
  const { value, text } = fieldsOf(spec)
  return {
    name: textOf(name),
    resourceVersion: textOf(resourceVersion),
    value: textOf(value ?? text),
  }
}

export const bodyOf = (
  plural: string,
  version: Version,
  { name, value, resourceVersion }: Partial<SeenObject> & { name: string },
): Fields => ({
  apiVersion: `${GROUP}/${version}`,
  kind: `K${plural}`,
  metadata: { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  spec: { value: value ?? '' },
})

/** State that all parts of a run share. */
export type Run = {
  readonly clients: readonly SoakClient[]
  readonly random: Random
  readonly faults: string[]
  /**
   * Number of unexpected responses, by status and message. Unexpected responses occur while a
   * webhook is down, or after a definition has changed.
   */
  readonly refusals: Map<string, number>
}

/**
 * Sends a request through a random client. Rejects if there is no response. A response that does
 * not arrive in time is recorded as a fault.
 */
export async function call(
  run: Run,
  method: string,
  path: string,
  body?: Fields,
): Promise<{ status: number; body: Fields }> {
  const client = run.random.pick(run.clients)
  const timer = setTimeout(() => run.faults.push(`${method} ${path} hangs`), HANG_MS)
  try {
    const answer = await client.call(method, path, body)
    const read = fieldsOf(JSON.parse(JSON.stringify(answer.body)))
    if (answer.status >= 400 && answer.status !== 404) {
      const key = `${answer.status} ${textOf(read['message'])
        .replace(/k\d+|[0-9]{2,}|t\d+/g, '…')
        .slice(0, 100)}`
      run.refusals.set(key, (run.refusals.get(key) ?? 0) + 1)
    }
    return { status: answer.status, body: read }
  } finally {
    clearTimeout(timer)
  }
}

/** Writes its own objects in any version through any replica, and records their expected state. */
export class KindWriter {
  readonly known = new Map<string, SeenObject | undefined>()
  acknowledged = 0
  doubtful = 0
  readonly #run: Run
  readonly #plural: string
  readonly #field: (version: Version) => 'value' | 'text'
  readonly #names: readonly string[]
  #count = 0

  constructor(
    run: Run,
    { plural, name, isConverted }: { plural: string; name: string; isConverted: boolean },
  ) {
    this.#run = run
    this.#plural = plural
    this.#field = (version) => (isConverted && version === 'v2' ? 'text' : 'value')
    this.#names = Array.from({ length: 5 }, (_, at) => `${name}-${at}`)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { random } = this.#run
    while (!signal.aborted) {
      await this.#write(random.pick(this.#names), random.pick(versions))
      await sleep(100 * (0.5 + random.next()))
    }
  }

  async #write(name: string, version: Version): Promise<void> {
    const known = this.known.get(name)
    const path = pathOf(this.#plural, version)
    const value = `${++this.#count}`
    const isDelete = known !== undefined && this.#run.random.chance(0.15)
    const body = {
      ...bodyOf(this.#plural, version, {
        name,
        ...(known && { resourceVersion: known.resourceVersion }),
      }),
      spec: { [this.#field(version)]: value },
    }
    try {
      const answer =
        known === undefined
          ? await call(this.#run, 'POST', path, body)
          : await call(
              this.#run,
              isDelete ? 'DELETE' : 'PUT',
              `${path}/${name}`,
              isDelete ? undefined : body,
            )
      if (answer.status === 200 || answer.status === 201) {
        this.acknowledged++
        this.known.set(name, isDelete ? undefined : readSeen(answer.body))
        if (!isDelete && readSeen(answer.body).value !== value)
          this.#run.faults.push(
            `${path}/${name}: wrote ${value}, was answered ${JSON.stringify(answer.body)}`,
          )
        return
      }
      // No other client writes these objects. The status 404 or 409 therefore means that an
      // acknowledged write was lost.
      if (answer.status === 404 || answer.status === 409)
        this.#run.faults.push(
          `${path}/${name}: ${answer.status} ${textOf(answer.body['message'])}, known ${JSON.stringify(known)}`,
        )
    } catch {
      // There was no response, so the write may or may not have been stored.
    }
    this.doubtful++
    await this.#look(name)
  }

  /** Reads the object until the server responds. The response becomes the expected state. */
  async #look(name: string): Promise<void> {
    for (;;) {
      const answer = await call(this.#run, 'GET', `${pathOf(this.#plural, 'v1')}/${name}`).catch(
        () => undefined,
      )
      if (answer?.status === 200) return void this.known.set(name, readSeen(answer.body))
      if (answer?.status === 404 && textOf(answer.body['message']).includes(name))
        return void this.known.set(name, undefined)
      await sleep(RETRY_MS)
    }
  }
}

/**
 * Lists and watches one version through one replica. Resumes from the last resourceVersion, and
 * lists again after 410 Gone.
 */
export class KindWatcher {
  readonly state = new Map<string, SeenObject>()
  readonly path: string
  events = 0
  lists = 0
  readonly #client: SoakClient
  #seen = ''

  constructor(client: SoakClient, path: string) {
    this.#client = client
    this.path = path
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#seen === '') await this.#list()
        const query = `?watch=1&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=${this.#seen}`
        for await (const event of this.#client.lines(this.path + query)) {
          if (signal.aborted) return
          this.#see(fieldsOf(JSON.parse(JSON.stringify(event))))
        }
      } catch {
        await sleep(RETRY_MS)
      }
    }
  }

  #see({ type, object }: Fields): void {
    if (type === 'ERROR') {
      this.#seen = ''
      throw new Error('lists again')
    }
    const { name, ...seen } = readSeen(object)
    this.#seen = seen.resourceVersion
    if (type === 'BOOKMARK') return
    this.events++
    if (type === 'DELETED') this.state.delete(name)
    else this.state.set(name, seen)
  }

  async #list(): Promise<void> {
    const { status, body } = await this.#client.call('GET', this.path)
    if (status !== 200) throw new Error(`list: ${status}`)
    const list = fieldsOf(JSON.parse(JSON.stringify(body)))
    this.lists++
    this.state.clear()
    for (const item of itemsOf(list['items'])) {
      const { name, ...seen } = readSeen(item)
      this.state.set(name, seen)
    }
    this.#seen = textOf(fieldsOf(list['metadata'])['resourceVersion'])
  }
}
