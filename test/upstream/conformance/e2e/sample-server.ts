/**
 * Replaces a Pod in Kubernetes' test of the aggregator. The test creates a Secret for its extension
 * API server. This program then starts the real sample-apiserver on this machine. It uses the
 * certificate in the Secret and the ServiceAccount of the Pod. Finally, it redirects the Service
 * and the APIService of the test to this process.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fieldsOf, itemsOf, textOf, type Fields } from '../../../../src/api/object.ts'
import {
  type ExtensionProgram,
  startExtension,
} from '../../../integration/aggregation/extension-program.ts'
import type { ApiServerProcess } from '../../../support/harness/api-server.ts'
import { startEtcd } from '../../../support/harness/etcd.ts'
import { kubeconfig } from '../../../support/harness/kubectl.ts'
import { SoakClient } from '../../../chaos/soak/client.ts'

const POLL_MS = 200
const mergePatch = 'application/merge-patch+json'
const apiService = '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.wardle.example.com'

export class SampleServerPod implements AsyncDisposable {
  readonly #server: ApiServerProcess
  readonly #client: SoakClient
  readonly #parts = new AsyncDisposableStack()
  readonly #done: Promise<void>
  #isEnding = false

  constructor(server: ApiServerProcess) {
    this.#server = server
    this.#client = new SoakClient(server.url, server.token)
    this.#done = this.#play()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    await this.#done
    await this.#parts.disposeAsync()
    this.#client[Symbol.dispose]()
  }

  async #play(): Promise<void> {
    const secret = await this.#until(async () => {
      const path = '/api/v1/secrets?fieldSelector=metadata.name=sample-apiserver-secret'
      return itemsOf(fieldsOf((await this.#client.call('GET', path)).body)['items'])[0]
    })
    if (secret === undefined) return
    const namespace = textOf(fieldsOf(secret['metadata'])['namespace'])
    const program = await this.#start(namespace, fieldsOf(secret['data']))
    const service = `/api/v1/namespaces/${namespace}/services/sample-api`
    const spec = {
      type: 'ExternalName',
      externalName: 'localhost',
      clusterIP: null,
      clusterIPs: null,
      ipFamilies: null,
    }
    await this.#patched(service, {
      spec: { ...spec, ipFamilyPolicy: null, internalTrafficPolicy: null },
    })
    await this.#patched(apiService, { spec: { service: { port: program.port } } })
  }

  async #start(namespace: string, data: Fields): Promise<ExtensionProgram> {
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const answer = await this.#client.call('POST', account, request)
    const token = textOf(fieldsOf(fieldsOf(answer.body)['status'])['token'])
    const etcd = this.#parts.use(await startEtcd())
    const text = (name: string): string => Buffer.from(textOf(data[name]), 'base64').toString()
    return this.#parts.use(
      await startExtension({
        name: 'sample-apiserver',
        certificatePem: text('tls.crt'),
        keyPem: text('tls.key'),
        kubeconfig: kubeconfig(this.#server, token, namespace),
        args: [`--etcd-servers=${etcd.clientUrl}`],
      }),
    )
  }

  async #patched(path: string, patch: object): Promise<void> {
    await this.#until(async () => {
      const { status, body } = await this.#client.call('PATCH', path, patch, mergePatch)
      return status === 200 ? fieldsOf(body) : undefined
    })
  }

  /** Polls until `find` returns an object. Returns undefined if the test ends before that. */
  async #until(find: () => Promise<Fields | undefined>): Promise<Fields | undefined> {
    while (!this.#isEnding) {
      const found = await find()
      if (found !== undefined) return found
      await sleep(POLL_MS)
    }
    return undefined
  }
}
