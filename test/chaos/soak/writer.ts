/**
 * A writer creates, changes and deletes its own objects, and records the state of each that the
 * server acknowledged.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../simulation/random.ts'
import { readObject, type SoakClient } from './client.ts'

const OBJECTS = 5
/**
 * Pause of a writer between writes. With this pause, all writers together send about 150 writes per
 * second, and all watchers together receive 30,000 events per second.
 */
const PAUSE_MS = 300
const RETRY_MS = 100

/**
 * The state of an object according to the last response of the server. Undefined if the object was
 * deleted.
 */
export type AcknowledgedState =
  | { readonly value: string; readonly resourceVersion: string }
  | undefined

export class Writer {
  readonly known = new Map<string, AcknowledgedState>()
  acknowledged = 0
  doubtful = 0
  readonly faults: string[] = []
  readonly #client: SoakClient
  readonly #path: string
  readonly #random: Random
  readonly #names: readonly string[]
  #count = 0

  constructor(
    client: SoakClient,
    options: { readonly path: string; readonly name: string; readonly random: Random },
  ) {
    this.#client = client
    this.#path = options.path
    this.#random = options.random
    this.#names = Array.from({ length: OBJECTS }, (_, at) => `${options.name}-${at}`)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const name = this.#random.pick(this.#names)
      await this.#write(name)
      await sleep(PAUSE_MS * (0.5 + this.#random.next()))
    }
  }

  async #write(name: string): Promise<void> {
    const known = this.known.get(name)
    // The value is valid base64, so that it can also be a value of a Secret.
    const value = String(++this.#count).padStart(8, '0')
    try {
      if (known === undefined) await this.#create(name, value)
      else if (this.#random.chance(0.15)) await this.#delete(name)
      else await this.#update(name, value, known.resourceVersion)
    } catch {
      // There was no response, so the write may or may not have been stored. Read the object, and
      // expect the state that it has now.
      this.doubtful++
      await this.#lookUntilTold(name)
    }
  }

  async #create(name: string, value: string): Promise<void> {
    const body = { metadata: { name }, data: { value } }
    const answer = await this.#client.call('POST', this.#path, body)
    if (answer.status === 201) return this.#told(name, answer.body)
    this.#refused(`create ${name}`, answer.status, answer.body)
  }

  async #update(name: string, value: string, resourceVersion: string): Promise<void> {
    const body = { metadata: { name, resourceVersion }, data: { value } }
    const answer = await this.#client.call('PUT', `${this.#path}/${name}`, body)
    if (answer.status === 200) return this.#told(name, answer.body)
    this.#refused(`update ${name} at ${resourceVersion}`, answer.status, answer.body)
  }

  async #delete(name: string): Promise<void> {
    const answer = await this.#client.call('DELETE', `${this.#path}/${name}`)
    if (answer.status !== 200) return this.#refused(`delete ${name}`, answer.status, answer.body)
    this.acknowledged++
    this.known.set(name, undefined)
  }

  #told(name: string, body: unknown): void {
    const { metadata, data } = readObject(body)
    this.acknowledged++
    this.known.set(name, { value: data?.value ?? '', resourceVersion: metadata.resourceVersion })
  }

  /**
   * Handles a rejected write. No other client writes these objects, so a conflict or a missing
   * object means that an acknowledged write was lost.
   */
  #refused(what: string, status: number, body: unknown): void {
    const text = JSON.stringify(body).slice(0, 300)
    if (status === 404 || status === 409) this.faults.push(`${what}: ${status} ${text}`)
    throw new Error(`${what}: ${status} ${text}`)
  }

  async #lookUntilTold(name: string): Promise<void> {
    for (;;) {
      try {
        const { status, body } = await this.#client.call('GET', `${this.#path}/${name}`)
        if (status === 200) {
          const { metadata, data } = readObject(body)
          this.known.set(name, {
            value: data?.value ?? '',
            resourceVersion: metadata.resourceVersion,
          })
          return
        }
        if (status === 404) {
          this.known.set(name, undefined)
          return
        }
      } catch {
        // Ignore the error, because the server is still restarting.
      }
      await sleep(RETRY_MS)
    }
  }
}
