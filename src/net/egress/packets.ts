/**
 * Encodes and decodes the messages of konnectivity's proxy protocol (service ProxyService of
 * apiserver-network-proxy) in gRPC frames.
 */
import { bytesTag, varintTag, WireReader } from '../grpc/codec/reader.ts'
import { WireWriter } from '../grpc/codec/writer.ts'

/**
 * Values of the enum PacketType of the protocol. `payloads` lists the field number of each payload.
 */
const packetTypes = {
  DIAL_REQ: 0,
  DIAL_RSP: 1,
  CLOSE_REQ: 2,
  CLOSE_RSP: 3,
  DATA: 4,
  DIAL_CLS: 5,
  DRAIN: 6,
} as const

export type PacketType = keyof typeof packetTypes

const names: ReadonlyMap<number, PacketType> = new Map([
  [packetTypes.DIAL_REQ, 'DIAL_REQ'],
  [packetTypes.DIAL_RSP, 'DIAL_RSP'],
  [packetTypes.CLOSE_REQ, 'CLOSE_REQ'],
  [packetTypes.CLOSE_RSP, 'CLOSE_RSP'],
  [packetTypes.DATA, 'DATA'],
  [packetTypes.DIAL_CLS, 'DIAL_CLS'],
  [packetTypes.DRAIN, 'DRAIN'],
])

const payloads = {
  DIAL_REQ: 2,
  DIAL_RSP: 3,
  DATA: 4,
  CLOSE_REQ: 5,
  CLOSE_RSP: 6,
  DIAL_CLS: 7,
  DRAIN: 8,
} as const

/** A packet from the proxy. Fields that the packet does not have are empty. */
export type Packet = {
  /** Undefined for a packet type that this client does not know. */
  readonly type: PacketType | undefined
  readonly error: string
  readonly connectId: bigint
  /** Random number that identifies the dial to which the packet belongs. The client chooses it. */
  readonly random: bigint
  /**
   * The tunneled bytes of a DATA packet. They are a view of the receive buffer. Reading the next
   * packet overwrites them.
   */
  readonly data: Buffer
}

export function dialRequest(address: string, random: bigint): Buffer {
  const writer = new WireWriter(address.length)
  const mark = writer.length
  writer.id(3, random)
  writer.string(2, address)
  writer.string(1, 'tcp')
  return framed(writer, 'DIAL_REQ', mark)
}

export function dataPacket(connectId: bigint, data: Buffer): Buffer {
  const writer = new WireWriter(data.length)
  const mark = writer.length
  writer.bytes(3, data)
  writer.id(1, connectId)
  return framed(writer, 'DATA', mark)
}

export const closeRequest = (connectId: bigint): Buffer => idPacket('CLOSE_REQ', connectId)

/** Returns the packet that cancels a dial before the proxy has responded to it. */
export const closeDial = (random: bigint): Buffer => idPacket('DIAL_CLS', random)

function idPacket(type: PacketType, id: bigint): Buffer {
  const writer = new WireWriter(0)
  const mark = writer.length
  writer.id(1, id)
  return framed(writer, type, mark)
}

function framed(writer: WireWriter, type: PacketType, mark: number): Buffer {
  writer.nested(payloads[type], mark)
  writer.number(1, packetTypes[type])
  return writer.frame()
}

/** Reads a packet. Throws if the message is malformed. */
export function readPacket(message: Buffer): Packet {
  const reader = new WireReader(message)
  let type: PacketType | undefined = 'DIAL_REQ'
  let payload: Payload = nothing
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(1)) type = names.get(reader.enumeration())
    else if (tag === bytesTag(payloads.DIAL_RSP)) payload = readPayload(reader, dialResponse)
    else if (tag === bytesTag(payloads.DATA)) payload = readPayload(reader, data)
    else if (tag === bytesTag(payloads.CLOSE_RSP)) payload = readPayload(reader, closeResponse)
    else if (tag === bytesTag(payloads.DIAL_CLS)) payload = readPayload(reader, dialClosed)
    else reader.skip(tag)
  }
  return { type, ...payload }
}

type Payload = Omit<Packet, 'type'>

const nothing: Payload = { error: '', connectId: 0n, random: 0n, data: Buffer.alloc(0) }

/** The field numbers of a payload in protobuf. 0 means that the payload does not have the field. */
type Numbers = {
  readonly error: number
  readonly connectId: number
  readonly random: number
  readonly data: number
}

const dialResponse: Numbers = { error: 1, connectId: 2, random: 3, data: 0 }
const closeResponse: Numbers = { error: 1, connectId: 2, random: 0, data: 0 }
const dialClosed: Numbers = { error: 0, connectId: 0, random: 1, data: 0 }
const data: Numbers = { error: 2, connectId: 1, random: 0, data: 3 }

function readPayload(reader: WireReader, numbers: Numbers): Payload {
  const outer = reader.enter()
  let { error, connectId, random, data: bytes } = nothing
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(numbers.error)) error = reader.string()
    else if (tag === bytesTag(numbers.data)) bytes = reader.bytes()
    else if (tag === varintTag(numbers.connectId)) connectId = reader.id()
    else if (tag === varintTag(numbers.random)) random = reader.id()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { error, connectId, random, data: bytes }
}
