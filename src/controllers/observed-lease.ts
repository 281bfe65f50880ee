/**
 * A Lease of another server, as observed by this server. As in client-go, the validity is measured
 * from the last observed change on the clock of this server, because the clocks of two servers can
 * differ.
 */
import { fieldsOf, type KubeObject, numberOf, textOf } from '../api/object.ts'

export class ObservedLease {
  #version: string | undefined
  #changedMs = 0
  #holder = ''
  #durationMs = 0

  observe(lease: KubeObject | undefined, nowMs: number): void {
    const version =
      lease === undefined ? undefined : `${lease.metadata.uid}/${lease.metadata.resourceVersion}`
    if (version !== this.#version) this.#changedMs = nowMs
    this.#version = version
    const spec = fieldsOf(lease?.['spec'])
    this.#holder = textOf(spec['holderIdentity'])
    this.#durationMs = 1000 * numberOf(spec['leaseDurationSeconds'])
  }

  get holder(): string {
    return this.#holder
  }

  /** Whether a server currently holds the Lease. */
  isHeld(nowMs: number): boolean {
    return this.#holder !== '' && nowMs - this.#changedMs < this.#durationMs
  }
}
