/** Fake aggregated API servers for tests. A table determines the response to each request. */
import type {
  ListedApiService,
  OnListedApiService,
  RemoteDocument,
  RemoteServers,
} from '../../../src/request/discovery/remote/remote-servers.ts'

export type FakeAnswer = Partial<RemoteDocument>

export class FakeServers implements RemoteServers {
  readonly asked: string[] = []
  answers: { [path: string]: FakeAnswer | Promise<FakeAnswer> | Error } = {}
  #services: ListedApiService[] = []
  #changes = 0
  readonly #listeners = new Set<OnListedApiService>()

  readonly list = (): readonly ListedApiService[] => this.#services
  readonly changes = (): number => this.#changes

  readonly onChange = (listener: OnListedApiService): Disposable => {
    this.#listeners.add(listener)
    for (const service of this.#services) listener(service.name, service)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  readonly fetch: RemoteServers['fetch'] = async (_service, path, { etag = '' }) => {
    this.asked.push(path)
    const answer = await this.answers[path]
    if (answer instanceof Error) throw answer
    if (answer !== undefined && etag !== '' && answer.etag === etag)
      return { status: 304, type: '', etag, body: Buffer.alloc(0) }
    return {
      status: answer === undefined ? 404 : 200,
      type: '',
      etag: '',
      body: Buffer.alloc(0),
      ...answer,
    }
  }

  set(...services: readonly ListedApiService[]): void {
    const gone = this.#services.filter(({ name }) => !services.some((one) => one.name === name))
    this.#services = [...services]
    this.#changes++
    for (const listener of this.#listeners) {
      for (const { name } of gone) listener(name, undefined)
      for (const service of services) listener(service.name, service)
    }
  }
}

export function remoteService(
  name: string,
  fields: Partial<ListedApiService> = {},
): ListedApiService {
  const [version = '', group = ''] = name.split(/\.(.*)/s)
  const remote = { service: { namespace: 'default', name: 'extension', port: 443 } }
  return {
    name,
    group,
    version,
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    remote,
    isAvailable: true,
    isManaged: false,
    ...fields,
  }
}

export const jsonAnswer = (value: unknown, fields: FakeAnswer = {}): FakeAnswer => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
  ...fields,
})
