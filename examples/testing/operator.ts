/**
 * A small operator to be tested. Each ConfigMap with the label `kind: site` gets one child with the
 * label `site: <name>`, and then the annotation `example.dev/ready`. `Care` can switch on bugs that
 * real operators have. None of these bugs has an effect until something fails, such as a request.
 */
import { CoreV1Api, type KubeConfig, type V1ConfigMap, Watch } from '@kubernetes/client-node'

export type Care = {
  /** Whether a failed request is retried. */
  readonly retries: boolean
  /**
   * Whether the name of the child is derived from the name of the site. Otherwise the server
   * generates the name.
   */
  readonly namesChildren: boolean
  /** Whether the operator looks for an existing child again before it retries a create. */
  readonly looksAgain: boolean
  /** Whether the operator reads an object again after a conflict. */
  readonly rereads: boolean
  /** Whether a watch that has ended is reopened. */
  readonly rewatches: boolean
}

export const careful: Care = {
  retries: true,
  namesChildren: true,
  looksAgain: true,
  rereads: true,
  rewatches: true,
}

const namespace = 'default'
const RETRIES_MAX = 5

export class SiteOperator implements AsyncDisposable {
  readonly #core: CoreV1Api
  readonly #watch: Watch
  readonly #care: Care
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  /** Resolves when the operator has stopped watching. */
  readonly ended: Promise<void>
  /** Number of watches that have started. */
  watches = 0

  constructor(kubeconfig: KubeConfig, care: Care) {
    this.#core = kubeconfig.makeApiClient(CoreV1Api)
    this.#watch = new Watch(kubeconfig)
    this.#care = care
    this.ended = this.#run()
  }

  /** Resolves when no reconciliation is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.ended
    await this.settled()
  }

  async #run(): Promise<void> {
    do {
      const { items, metadata } = await this.#core.listNamespacedConfigMap({
        namespace,
        labelSelector: 'kind=site',
      })
      for (const site of items) this.#start(site)
      await this.#watchOnce(metadata?.resourceVersion ?? '')
    } while (this.#care.rewatches && !this.#stopping.signal.aborted)
  }

  /** Resolves when the watch has ended for any reason. */
  async #watchOnce(resourceVersion: string): Promise<void> {
    const done = Promise.withResolvers<void>()
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const query = { resourceVersion, labelSelector: 'kind=site' }
    const onEvent = (type: string, site: V1ConfigMap): void => {
      if (type === 'ADDED' || type === 'MODIFIED') this.#start(site)
    }
    const opened = await this.#watch.watch(path, query, onEvent, () => done.resolve())
    this.watches++
    const abort = (): void => opened.abort()
    this.#stopping.signal.addEventListener('abort', abort)
    if (this.#stopping.signal.aborted) abort()
    await done.promise
    this.#stopping.signal.removeEventListener('abort', abort)
  }

  #start({ metadata }: V1ConfigMap): void {
    const name = metadata?.name ?? ''
    const running: Promise<void> = this.#reconcile(name)
      // A real operator would log the error and continue.
      .catch(() => undefined)
      .then(() => void this.#running.delete(running))
    this.#running.add(running)
  }

  async #reconcile(name: string): Promise<void> {
    const ensureChild = async (): Promise<void> => {
      if (!(await this.#hasChild(name))) await this.#createChild(name)
    }
    if (this.#care.looksAgain) await this.#repeat(ensureChild)
    else if (!(await this.#hasChild(name))) await this.#repeat(() => this.#createChild(name))
    await this.#repeat(() => this.#markReady(name))
  }

  async #hasChild(site: string): Promise<boolean> {
    const { items } = await this.#core.listNamespacedConfigMap({
      namespace,
      labelSelector: `site=${site}`,
    })
    return items.length > 0
  }

  async #createChild(site: string): Promise<void> {
    const named = this.#care.namesChildren ? { name: `${site}-page` } : { generateName: `${site}-` }
    const body = { metadata: { ...named, labels: { site } }, data: { page: `<h1>${site}</h1>` } }
    await this.#core.createNamespacedConfigMap({ namespace, body }).catch(unless(409))
  }

  async #markReady(name: string): Promise<void> {
    const site = await this.#core.readNamespacedConfigMap({ namespace, name })
    if (site.metadata?.annotations?.['example.dev/ready'] === 'true') return
    site.metadata ??= {}
    site.metadata.annotations = { ...site.metadata.annotations, 'example.dev/ready': 'true' }
    try {
      await this.#core.replaceNamespacedConfigMap({ namespace, name, body: site })
    } catch (error) {
      if (!isStatus(error, 409)) throw error
      if (this.#care.rereads) await this.#markReady(name)
    }
  }

  async #repeat(attempt: () => Promise<void>): Promise<void> {
    for (let tried = 1; ; tried++) {
      try {
        return await attempt()
      } catch (error) {
        if (!this.#care.retries || tried === RETRIES_MAX || this.#stopping.signal.aborted)
          throw error
      }
    }
  }
}

const isStatus = (error: unknown, code: number): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code

/** Returns an error handler that ignores this status code. */
const unless =
  (code: number) =>
  (error: unknown): void => {
    if (!isStatus(error, code)) throw error
  }
