/**
 * Reads keys and values from etcd over its HTTP gateway, so that the tests do not depend on
 * Keelson's own client.
 */

type RawPair = { readonly key: string; readonly value?: string; readonly mod_revision: string }

export type Pair = { readonly key: string; readonly value: Buffer; readonly revision: number }

export async function readAll(url: string, prefix: string): Promise<readonly Pair[]> {
  const last = Buffer.from(prefix)
  last.writeUInt8(last.readUInt8(last.length - 1) + 1, last.length - 1)
  return await range(url, { key: encode(prefix), range_end: last.toString('base64') })
}

export async function readOne(url: string, key: string): Promise<Buffer> {
  const [pair] = await range(url, { key: encode(key) })
  if (pair === undefined) throw new Error(`${key} does not exist`)
  return pair.value
}

async function range(
  url: string,
  request: Readonly<Record<string, string>>,
): Promise<readonly Pair[]> {
  const answer = await fetch(`${url}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify(request),
  })
  const { kvs = [] }: { kvs?: readonly RawPair[] } = JSON.parse(await answer.text())
  return kvs.map(({ key, value = '', mod_revision }) => ({
    key: Buffer.from(key, 'base64').toString(),
    value: Buffer.from(value, 'base64'),
    revision: Number(mod_revision),
  }))
}

const encode = (text: string): string => Buffer.from(text).toString('base64')
