/** The part of etcd's Cluster service that a client needs: the list of members. */
import type { CallOptions, Channel, Method } from '../../net/grpc/channel.ts'
import { encodeMemberList, type Member, readMembers } from './codec/maintenance.ts'

export class EtcdCluster {
  readonly #channel: Channel

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /**
   * Lists the members. By default the call is linearizable, so it succeeds only if there is a
   * quorum.
   */
  async memberList(
    options: { readonly linearizable?: boolean } = {},
    call?: CallOptions,
  ): Promise<readonly Member[]> {
    const { members } = await this.#channel.unary(
      memberList,
      encodeMemberList(options.linearizable ?? true),
      call,
    )
    return members
  }
}

const memberList: Method<ReturnType<typeof readMembers>> = {
  path: '/etcdserverpb.Cluster/MemberList',
  read: readMembers,
  isRead: true,
  requireLeader: false,
}
