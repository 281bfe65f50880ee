/** Yields the body of a response over HTTP/1.1 as it arrives. */
import type { IncomingMessage } from 'node:http'

export async function* messageChunks(message: IncomingMessage): AsyncGenerator<readonly Buffer[]> {
  for await (const chunk of message) if (Buffer.isBuffer(chunk)) yield [chunk]
}
