/** etcd's Cluster service, as far as a user of the cluster needs it: who is in it. */
import type { CallOptions, Channel, Method } from './channel.ts'
import { encodeMemberList, type Member, readMembers } from './codec/maintenance.ts'

export class EtcdCluster {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Linearizable unless told otherwise: also a proof that the cluster has a quorum. */
  async memberList(options: { readonly linearizable?: boolean } = {}, call?: CallOptions): Promise<readonly Member[]> {
    const { members } = await this.#channel.unary(memberList, encodeMemberList(options.linearizable ?? true), call)
    return members
  }
}

const memberList: Method<ReturnType<typeof readMembers>> = {
  path: '/etcdserverpb.Cluster/MemberList',
  read: readMembers,
  isRead: true,
  requireLeader: false,
}
