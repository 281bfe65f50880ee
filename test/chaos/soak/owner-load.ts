/**
 * Creates objects that own each other at random, changes their owners, and deletes them with each
 * propagation policy.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SoakClient } from './client.ts'
import type { Meta, OwnerJudge } from './owner-judge.ts'

const OBJECTS = 60
/**
 * Pause between two operations of a load. Without a pause, the loads would use both cores of a
 * small machine, and the test would mainly measure the time spent waiting for a CPU.
 */
const PAUSE_MS = 40

export const configMaps = '/api/v1/namespaces/default/configmaps'

export class OwnerLoad {
  readonly #client: SoakClient
  readonly #judge: OwnerJudge
  readonly #random: () => number
  operations = 0

  constructor(client: SoakClient, judge: OwnerJudge, random: () => number) {
    this.#client = client
    this.#judge = judge
    this.#random = random
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.operations++
      // Ignore errors. Requests can fail, because etcd is paused from time to time and other
      // clients change the same objects.
      await this.#once().catch(() => undefined)
      await sleep(PAUSE_MS)
    }
  }

  #pick(): Meta | undefined {
    const all = [...this.#judge.live.values()].filter(({ name }) => name.startsWith('o'))
    return all[Math.floor(this.#random() * all.length)]
  }

  #owners(): object[] {
    const count = Math.floor(this.#random() * 3)
    return Array.from({ length: count }, () => this.#pick())
      .filter((owner) => owner !== undefined)
      .filter((owner, at, all) => all.indexOf(owner) === at)
      .map(({ name, uid }) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid,
        blockOwnerDeletion: this.#random() < 0.5,
      }))
  }

  async #once(): Promise<void> {
    const dice = this.#random()
    const object = this.#pick()
    if (object === undefined || (dice < 0.5 && this.#judge.live.size < OBJECTS)) {
      const metadata = {
        name: `o${Math.floor(this.#random() * 4 * OBJECTS)}`,
        ownerReferences: this.#owners(),
      }
      await this.#client.call('POST', configMaps, { metadata })
    } else if (dice < 0.75) {
      const body = { metadata: { uid: object.uid, ownerReferences: this.#owners() } }
      await this.#client.call(
        'PATCH',
        `${configMaps}/${object.name}`,
        body,
        'application/merge-patch+json',
      )
    } else {
      const propagationPolicy = ['Background', 'Foreground', 'Orphan'][
        Math.floor(this.#random() * 3)
      ]
      await this.#delete(object, propagationPolicy)
    }
  }

  /**
   * Deletes an object only if it still has this UID, because its name may have been reused. The
   * object counts as possibly deleted, unless the server rejects the request.
   */
  async #delete({ name, uid }: Meta, propagationPolicy: string | undefined): Promise<void> {
    const options = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy,
      preconditions: { uid },
    }
    const answer = await this.#client
      .call('DELETE', `${configMaps}/${name}`, options)
      .catch(() => undefined)
    if (answer?.status !== NOT_FOUND && answer?.status !== CONFLICT) this.#judge.asked.add(uid)
  }
}

const NOT_FOUND = 404
const CONFLICT = 409
