/** Reads a server's reactions to a sequence of frames, for each stream and for the connection. */
import { HpackDecoder } from '../../../../src/net/http2/hpack-decoder.ts'
import { HeaderMemory } from '../../../../src/net/http2/header-memory.ts'
import type { HeaderField } from '../../../../src/net/http2/field.ts'
import {
  ACK,
  END_STREAM,
  FRAME,
  frame,
  preface,
  RawHttp2,
  type ReceivedFrame,
  settings,
} from '../../../support/harness/raw-http2.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Step } from './generate.ts'

/** Reactions of a server. `connection` is `open`, `cut off`, or GOAWAY with its code. */
export type Verdict = { readonly connection: string; readonly streams: readonly string[] }

const LIMITS = { headerBytesMax: 1 << 20, headersMax: 1000 }
const MARKER = Buffer.from('the last')
const CUT_OFF = 'cut off'
const CONNECTION_MS_MAX = 5_000

/**
 * Sends the steps and waits for all reactions. A server that sends nothing for `patienceMs` counts
 * as finished.
 */
export async function judge(
  {
    port,
    codeOf,
  }: { readonly port: number; readonly codeOf?: (clientPort: number) => number | undefined },
  steps: readonly Step[],
  patienceMs: number,
): Promise<Verdict> {
  using client = await RawHttp2.open(port, Buffer.concat([preface, settings()]))
  const { localPort = 0 } = client.socket
  await client.send(...steps.map(({ bytes }) => bytes), frame(FRAME.PING, 0, 0, MARKER))
  const isMarker = ({ type, flags, payload }: ReceivedFrame): boolean =>
    type === FRAME.PING && (flags & ACK) !== 0 && payload.equals(MARKER)
  await client.until((one) => isMarker(one) || one.type === FRAME.GOAWAY, CONNECTION_MS_MAX)
  for (let seen = -1; seen !== client.received.length; ) {
    seen = client.received.length
    await sleep(patienceMs)
  }
  const verdict = verdictOf(client)
  const code = codeOf?.(localPort)
  return verdict.connection === CUT_OFF && code !== undefined
    ? { connection: `GOAWAY ${code}`, streams: [] }
    : verdict
}

function verdictOf({ received, isOver }: RawHttp2): Verdict {
  const goaway = received.find(({ type }) => type === FRAME.GOAWAY)
  if (goaway !== undefined)
    return { connection: `GOAWAY ${goaway.payload.readUInt32BE(4)}`, streams: [] }
  if (isOver) return { connection: CUT_OFF, streams: [] }
  const decoder = new HpackDecoder(new HeaderMemory())
  const streams = new Map<number, string>()
  const add = (stream: number, what: string): void =>
    void streams.set(stream, `${streams.get(stream) ?? ''} ${what}`)
  for (const { type, flags, stream, payload } of received) {
    if (type === FRAME.HEADERS) {
      const fields: HeaderField[] = []
      decoder.decode(payload, fields, LIMITS)
      add(stream, fields.find(({ name }) => name === ':status')?.value ?? 'no status')
    }
    if (type === FRAME.RST_STREAM) add(stream, `RST_STREAM ${payload.readUInt32BE(0)}`)
    if ((type === FRAME.DATA || type === FRAME.HEADERS) && (flags & END_STREAM) !== 0)
      add(stream, 'end')
  }
  return {
    connection: 'open',
    streams: [...streams].map(([id, what]) => `${id}:${what}`).toSorted(),
  }
}
