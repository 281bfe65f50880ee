/** The requests and responses of etcd's Maintenance and Cluster services. */
import { bytesTag, type WireReader, varintTag } from '../../../net/grpc/codec/reader.ts'
import { readHeaderRevision } from './header.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

export type MemberStatus = {
  readonly revision: number
  readonly version: string
  readonly dbSizeBytes: number
  /** Estimated size of the database after a defragmentation. */
  readonly dbSizeInUseBytes: number
  /** ID of the leader, or 0n if the member knows no leader. */
  readonly leader: bigint
  readonly memberId: bigint
  readonly raftTerm: number
  readonly raftIndex: number
  readonly raftAppliedIndex: number
  readonly isLearner: boolean
  /** Errors of the member, such as 'memberID:… alarm:NOSPACE'. */
  readonly errors: readonly string[]
}

export type AlarmType = 'none' | 'nospace' | 'corrupt'
export type Alarm = { readonly memberId: bigint; readonly alarm: AlarmType }

export type Member = {
  readonly id: bigint
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly clientUrls: readonly string[]
  readonly isLearner: boolean
}

export type SnapshotChunk = { readonly remainingBytes: number; readonly blob: Buffer }

const alarmTypes: readonly AlarmType[] = ['none', 'nospace', 'corrupt']

export function encodeAlarm(action: 'get' | 'deactivate', alarm: Alarm): Buffer {
  const writer = new WireWriter(0)
  writer.number(3, alarmTypes.indexOf(alarm.alarm))
  writer.id(2, alarm.memberId)
  writer.number(1, action === 'get' ? 0 : 2)
  return writer.frame()
}

export function encodeMemberList(linearizable: boolean): Buffer {
  const writer = new WireWriter(0)
  writer.bool(1, linearizable)
  return writer.frame()
}

export function readStatus(reader: WireReader): MemberStatus {
  let head = { revision: 0, memberId: 0n }
  let version = ''
  let dbSizeBytes = 0
  let dbSizeInUseBytes = 0
  let leader = 0n
  let raftTerm = 0
  let raftIndex = 0
  let raftAppliedIndex = 0
  let isLearner = false
  const errors: string[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) head = readHeader(reader)
    else if (tag === bytesTag(2)) version = reader.string()
    else if (tag === varintTag(3)) dbSizeBytes = reader.number()
    else if (tag === varintTag(4)) leader = reader.unsignedId()
    else if (tag === varintTag(5)) raftIndex = reader.number()
    else if (tag === varintTag(6)) raftTerm = reader.number()
    else if (tag === varintTag(7)) raftAppliedIndex = reader.number()
    else if (tag === bytesTag(8)) errors.push(reader.string())
    else if (tag === varintTag(9)) dbSizeInUseBytes = reader.number()
    else if (tag === varintTag(10)) isLearner = reader.bool()
    else reader.skip(tag)
  }
  return {
    ...head,
    version,
    dbSizeBytes,
    dbSizeInUseBytes,
    leader,
    raftTerm,
    raftIndex,
    raftAppliedIndex,
    isLearner,
    errors,
  }
}

function readHeader(reader: WireReader): { readonly revision: number; readonly memberId: bigint } {
  const outer = reader.enter()
  let revision = 0
  let memberId = 0n
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(2)) memberId = reader.unsignedId()
    else if (tag === varintTag(3)) revision = reader.number()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { revision, memberId }
}

export function readAlarms(reader: WireReader): readonly Alarm[] {
  const alarms: Alarm[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(2)) alarms.push(readAlarm(reader))
    else reader.skip(tag)
  }
  return alarms
}

function readAlarm(reader: WireReader): Alarm {
  const outer = reader.enter()
  let memberId = 0n
  let alarm: AlarmType = 'none'
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(1)) memberId = reader.unsignedId()
    else if (tag === varintTag(2)) alarm = alarmTypes[reader.enumeration()] ?? 'none'
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { memberId, alarm }
}

export function readSnapshotChunk(reader: WireReader): SnapshotChunk {
  let remainingBytes = 0
  let blob: Buffer = Buffer.alloc(0)
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(2)) remainingBytes = reader.number()
    else if (tag === bytesTag(3)) blob = reader.bytes()
    else reader.skip(tag)
  }
  return { remainingBytes, blob }
}

export function readMembers(reader: WireReader): {
  readonly revision: number
  readonly members: readonly Member[]
} {
  let revision = 0
  const members: Member[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else if (tag === bytesTag(2)) members.push(readMember(reader))
    else reader.skip(tag)
  }
  return { revision, members }
}

function readMember(reader: WireReader): Member {
  const outer = reader.enter()
  let id = 0n
  let name = ''
  const peerUrls: string[] = []
  const clientUrls: string[] = []
  let isLearner = false
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(1)) id = reader.unsignedId()
    else if (tag === bytesTag(2)) name = reader.string()
    else if (tag === bytesTag(3)) peerUrls.push(reader.string())
    else if (tag === bytesTag(4)) clientUrls.push(reader.string())
    else if (tag === varintTag(5)) isLearner = reader.bool()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { id, name, peerUrls, clientUrls, isLearner }
}
