/** Starts the servers to compare, each on its own etcd, with the flags of the compat suite. */
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { startReference } from '../../support/harness/reference.ts'
import { sharedSteps } from './areas/shared.ts'
import { type Endpoint, Target } from './target.ts'

/** Starts servers, and stops them when this object is disposed of. */
export class Servers implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack()

  async openReference(): Promise<{ readonly endpoint: Endpoint; readonly target: Target }> {
    const etcd = this.#stack.use(await startEtcd())
    return await this.#open(await startReference({ etcdUrl: etcd.clientUrl }))
  }

  async openKeelson(): Promise<{ readonly endpoint: Endpoint; readonly target: Target }> {
    const etcd = this.#stack.use(await startEtcd())
    return await this.#open(await startKeelson({ etcdUrl: etcd.clientUrl }))
  }

  async #open(
    server: Endpoint & AsyncDisposable,
  ): Promise<{ readonly endpoint: Endpoint; readonly target: Target }> {
    this.#stack.use(server)
    const target = this.#stack.use(new Target(server))
    for (const step of sharedSteps) await target.send(step, { ns: 'default', answers: new Map() })
    return { endpoint: server, target }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}
