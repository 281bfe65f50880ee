/**
 * Objects that own each other at random: made, given other owners, and deleted with each
 * propagation policy.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SoakClient } from './client.ts'
import type { Meta, OwnerJudge } from './owner-judge.ts'

const OBJECTS = 60
/**
 * Between two operations of one of the loads. As fast as they can they would take both cores of a
 * small machine from the servers, and what is measured would be the wait for a processor.
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
      // What fails because etcd stands still, or because somebody else was first, is part of it.
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

  /** Another object may have the name by then. One that was not deleted for sure may have been. */
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
