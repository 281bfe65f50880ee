/**
 * Several etcd members on this machine that fail over quickly, for fault injection. Members are
 * identified by their index in `members`. Each member can be killed, paused and restarted
 * separately.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdProcess, freePorts } from './etcd.ts'
import { readStatus } from './gateway.ts'
import { type FaultProxy, startProxy } from './proxy.ts'

/**
 * Heartbeat interval of a member. It is a tenth of etcd's default, so that a new leader is elected
 * in about a second, even on a busy machine.
 */
const HEARTBEAT_MS = 50
const ELECTION_MS = 500

/** Maximum time for a member to report its leader. A member that takes longer counts as down. */
const STATUS_TIMEOUT_MS = 2_000

export class Cluster implements AsyncDisposable {
  readonly members: readonly EtcdProcess[]
  readonly #dir: string
  /** Proxies in front of each member's peer address, in the order of the members. */
  readonly #peers: readonly FaultProxy[]

  constructor(dir: string, members: readonly EtcdProcess[], peers: readonly FaultProxy[]) {
    this.#dir = dir
    this.members = members
    this.#peers = peers
  }

  get endpoints(): readonly string[] {
    return this.members.map((member) => member.clientUrl)
  }

  member(index: number): EtcdProcess {
    const member = this.members[index]
    if (member === undefined) throw new Error(`the cluster has no member ${index}`)
    return member
  }

  /**
   * Returns the index of the member that considers itself the leader. Waits while an election is in
   * progress.
   */
  async leader(timeoutMs = 20_000): Promise<number> {
    const until = performance.now() + timeoutMs
    while (performance.now() < until) {
      const leads = await Promise.all(this.members.map((member) => isLeader(member.clientUrl)))
      const index = leads.indexOf(true)
      if (index >= 0) return index
      await sleep(50)
    }
    throw new Error(
      `no member leads after ${timeoutMs} ms: ${(await Promise.all(this.members.map(describe))).join('; ')}`,
    )
  }

  /** Waits until each member responds as part of a cluster with a leader. */
  async ready(timeoutMs = 30_000): Promise<void> {
    // Wait for a leader first. The health check of a member is a read, which blocks until there is
    // a leader. If it starts before the election, it can block for longer than the election takes.
    await this.leader(timeoutMs)
    await Promise.all(this.members.map((member) => member.ready(timeoutMs)))
  }

  /** Isolates a member from the other members. Clients can still reach it. */
  async isolate(index: number): Promise<void> {
    const { member } = await readStatus(this.member(index).clientUrl)
    const id = BigInt(member).toString(16)
    for (const [at, peer] of this.#peers.entries()) peer.block(at === index ? 'all' : [id])
  }

  /** Reconnects all members with each other. */
  reunite(): void {
    for (const peer of this.#peers) peer.heal()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()))
    await Promise.all(this.#peers.map((peer) => peer[Symbol.asyncDispose]()))
    await rm(this.#dir, { recursive: true, force: true })
  }
}

export type ClusterOptions = { readonly size?: number; readonly args?: readonly string[] }

/** Starts a cluster, and waits until it has elected a leader. */
export async function startCluster({ size = 3, args = [] }: ClusterOptions = {}): Promise<Cluster> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-cluster-'))
  const ports = await freePorts(size * 2)
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const peers = await Promise.all(urls.slice(size).map(startProxy))
  const initial = peers.map(({ url }, index) => `m${index}=${url}`).join(',')
  const members = peers.map((peer, index) => {
    const clientUrl = urls[index] ?? ''
    const memberDir = join(dir, `m${index}`)
    return new EtcdProcess(memberDir, clientUrl, [
      `--name=m${index}`,
      `--data-dir=${join(memberDir, 'data')}`,
      `--initial-cluster=${initial}`,
      `--listen-client-urls=${clientUrl}`,
      `--advertise-client-urls=${clientUrl}`,
      `--listen-peer-urls=${urls[size + index]}`,
      `--initial-advertise-peer-urls=${peer.url}`,
      `--heartbeat-interval=${HEARTBEAT_MS}`,
      `--election-timeout=${ELECTION_MS}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
      ...args,
    ])
  })
  const cluster = new Cluster(dir, members, peers)
  try {
    await Promise.all(members.map((member) => member.start({ wait: false })))
    await cluster.ready()
    return cluster
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw error
  }
}

async function describe(member: EtcdProcess): Promise<string> {
  try {
    return JSON.stringify(await readStatus(member.clientUrl, STATUS_TIMEOUT_MS))
  } catch (error) {
    return String(error)
  }
}

async function isLeader(url: string): Promise<boolean> {
  try {
    const status = await readStatus(url, STATUS_TIMEOUT_MS)
    return status.member === status.leader
  } catch {
    return false // A member that does not respond is not the leader.
  }
}
